/**
 * Everything that a pass over an ImageService examines: its Secrets and ConfigMaps, its objects, its database, broker
 * and buckets.
 */
import type { Queryable } from '../../runtime/db/client.ts';
import type { KeyEncryptionKey } from '../../runtime/platform/sealing.ts';
import { reasons } from '../image-service/conditions.ts';
import { validateConfigMaps } from '../image-service/config-maps.ts';
import type { Installation } from '../image-service/installation.ts';
import type { Observed } from '../image-service/observed.ts';
import { validateEnvironment } from '../image-service/pod-environment.ts';
import { renderInstallation } from '../image-service/render/render.ts';
import type { ImageServiceSpec } from '../image-service/schema.ts';
import { type FoundSecrets, urlKey, validateSecrets } from '../image-service/secrets.ts';
import { validateKeys } from '../image-service/validate-keys.ts';
import type { KubeClient } from '../kube/client.ts';
import { findSharer } from './find-sharer.ts';
import type { ImageServiceObject } from './live-types.ts';
import { type LiveObjects, listCluster, observeObjects, usableSince } from './observe.ts';
import type { ProbeDatabase } from './probe-database.ts';
import type { ProbeDependencies } from './probe-dependencies.ts';
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
  probeDependencies: ProbeDependencies;
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
  const { problems: faults, endpoints, digest } = validateSecrets(spec, found);
  const configured = validateConfigMaps(spec, files);
  const sealing = validateKeys(spec, found, context.keys);
  const alone = [...faults, ...sealing, ...configured.problems];
  const problems = alone.length > 0 ? alone : validateEnvironment(spec, found);
  const asked = problems.length > 0 ? notProbed : await probe({ service, spec, found }, context);
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

type ProbeResults = Pick<Observed, 'database' | 'broker' | 'storage'>;

const notChecked = {
  reason: 'NotCheckedYet',
  message: reasons.NotCheckedYet.meaning,
} as const;
const notProbed: ProbeResults = {
  database: { state: 'not asked' },
  broker: notChecked,
  storage: notChecked,
};

type ProbeInput = { service: ImageServiceObject; spec: ImageServiceSpec; found: FoundSecrets };

async function probe(
  { service, spec, found }: ProbeInput,
  context: GatherContext,
): Promise<ProbeResults> {
  const { databaseSecretRef: reference } = spec;
  const url = (found[reference.name]?.[urlKey(reference)] ?? '').trim();
  const [database, dependencies] = await Promise.all([
    context.probeDatabase(url, { db: context.db, known: service.status?.databaseID }),
    context.probeDependencies(spec, found),
  ]);
  const search = { ...context, database_id: database.id };
  const sharer = database.state === 'reachable' ? await findSharer(service, search) : undefined;
  if (sharer === undefined) return { database, ...dependencies };
  return { database: { state: 'taken', why: `'${sharer}'` }, ...dependencies };
}
