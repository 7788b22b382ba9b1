/**
 * Everything that a pass over an ImageService examines: its Secrets and ConfigMaps, its objects, its database, broker
 * and buckets.
 */
import type { Queryable } from '../../runtime/db/client.ts';
import type { KeyEncryptionKey } from '../../runtime/platform/sealing.ts';
import { reasons } from '../image-service/conditions.ts';
import { examineConfigMaps } from '../image-service/config-maps.ts';
import type { Installation } from '../image-service/installation.ts';
import type { Observed } from '../image-service/observed.ts';
import { examineKeys } from '../image-service/own-keys.ts';
import { examineTogether } from '../image-service/pod-environment.ts';
import { renderInstallation } from '../image-service/render/render.ts';
import type { ImageServiceSpec } from '../image-service/schema.ts';
import { examineSecrets, type FoundSecrets, urlKey } from '../image-service/secrets.ts';
import type { KubeClient } from '../kube/client.ts';
import { findSharer } from './find-sharer.ts';
import type { ImageServiceObject } from './live-types.ts';
import { type LiveObjects, listCluster, observeObjects, usableSince } from './observe.ts';
import type { ProbeDatabase } from './probe-database.ts';
import type { ProbeSurroundings } from './probe-surroundings.ts';
import { readConfigMaps } from './read-config-maps.ts';
import { readSecrets } from './read-secrets.ts';

export type GatherContext = {
  client: KubeClient;
  /** The operator's own database, with the rows of Projects. */
  db: Queryable;
  /** The newest migration that this operator knows. */
  schema_version: string;
  /** The keys that the operator seals with, and can open. */
  keys: readonly KeyEncryptionKey[];
  probeDatabase: ProbeDatabase;
  probeSurroundings: ProbeSurroundings;
  /** The namespaces that may hold ImageServices. */
  namespaces: readonly string[];
};

export type Gathered = { installation: Installation; observed: Observed; live: LiveObjects };

export async function gather(
  service: ImageServiceObject,
  spec: ImageServiceSpec,
  context: GatherContext,
): Promise<Gathered> {
  const { metadata, status } = service;
  const { client, schema_version } = context;
  const { name, namespace = '', uid } = metadata;
  const [found, files, cluster] = await Promise.all([
    readSecrets(client, namespace, spec),
    readConfigMaps(client, namespace, spec),
    listCluster(client, { name, namespace, spec }),
  ]);
  const { problems: faults, endpoints, digest } = examineSecrets(spec, found);
  const configured = examineConfigMaps(spec, files);
  const sealing = examineKeys(spec, found, context.keys);
  const alone = [...faults, ...sealing, ...configured.problems];
  const problems = alone.length > 0 ? alone : examineTogether(spec, found);
  const asked = problems.length > 0 ? unasked : await ask({ service, spec, found }, context);
  const installation: Installation = {
    ...{ name, namespace, uid, spec, schema_version, endpoints },
    database_id: asked.database.id,
    secrets_digest: digest,
    files_digest: configured.digest,
    keda: cluster.keda,
  };
  const { migration } = renderInstallation(installation);
  const observed: Observed = {
    problems,
    last_image: status?.image,
    usable_since: usableSince(status),
    ...asked,
    ...observeObjects(name, migration, cluster),
  };
  return { installation, observed, live: cluster.live };
}

type Asked = Pick<Observed, 'database' | 'broker' | 'storage'>;

const untold = {
  reason: 'NotCheckedYet',
  message: reasons.NotCheckedYet.meaning,
} as const;
const unasked: Asked = { database: { state: 'not asked' }, broker: untold, storage: untold };

type Asking = { service: ImageServiceObject; spec: ImageServiceSpec; found: FoundSecrets };

async function ask({ service, spec, found }: Asking, context: GatherContext): Promise<Asked> {
  const { databaseSecretRef: reference } = spec;
  const url = (found[reference.name]?.[urlKey(reference)] ?? '').trim();
  const [database, surroundings] = await Promise.all([
    context.probeDatabase(url, { db: context.db, known: service.status?.databaseID }),
    context.probeSurroundings(spec, found),
  ]);
  const looking = { ...context, database_id: database.id };
  const sharer = database.state === 'reachable' ? await findSharer(service, looking) : undefined;
  if (sharer === undefined) return { database, ...surroundings };
  return { database: { state: 'taken', why: `'${sharer}'` }, ...surroundings };
}
