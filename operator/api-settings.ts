/**
 * The settings of an installation's API, for what the operator does in its place: starting the trial of a namespace's
 * organization, and uploading the images of presets. Both follow the ImageService of the delivery namespace, so that a
 * project has the same room and accepts the same types either way. Spec: Organization; Uploads.
 */
import type { UploadSettings } from '../runtime/actions/create-upload.ts';
import type { Plans } from '../runtime/core/plans.ts';
import { Advice } from '../runtime/platform/advice.ts';
import { type Config, parseConfig } from '../runtime/platform/config.ts';
import { variables } from '../runtime/platform/config-variables.ts';
import { parsePlans, readPlans } from '../runtime/platform/plans-file.ts';
import { refusalOf } from './cluster/refusal.ts';
import { usualBuckets } from './image-service/schema-parties.ts';
import type { KubeClient } from './kube/client.ts';
import { bytesOf, configMaps } from './kube/core-types.ts';
import { unwrap } from './kube/kube-failure.ts';
import type { Edge, EdgeFound } from './routes/edge.ts';

export type ApiSettings = {
  plans: Plans;
  uploads: UploadSettings;
  /** The bucket where workers look for uploads, if the resource itself states it. */
  ingestBucket?: string | undefined;
};

/** The API's settings cannot be read, and the operator does not guess them. */
export class SettingsUnknown extends Error {}

/**
 * For tenants, who can only wait: what is wrong with the installation is for the people who run it,
 * and is in the log.
 */
export const NO_SETTINGS =
  'the ImageService or its plans cannot be read: the log of the operator says what to correct in the installation; the operator tries again by itself';

type Sources = {
  client: Pick<KubeClient, 'get'>;
  /** Asks the API server, not a cache, as an organization gets its trial only once. */
  findEdge(): Promise<EdgeFound>;
};

/**
 * A plans file of the operator's own takes precedence over the ImageService's. Throws Advice when
 * it is invalid.
 */
export function createApiSettings(
  config: Config,
  { client, findEdge }: Sources,
): () => Promise<ApiSettings> {
  const own = readPlans(config);
  const read = async () => {
    const edge = edgeOf(await findEdge());
    const declaredPlans = config.plans === undefined && edge && (await plansOf(edge, client));
    const ingestBucket = edge && ingestBucketOf(edge);
    return { plans: declaredPlans || own, uploads: uploadsOf(edge, config), ingestBucket };
  };
  return () => read().catch(throwSettingsUnknown);
}

/**
 * Turns causes that last until somebody fixes them into SettingsUnknown: an invalid text, or one
 * that the operator may not read.
 */
function throwSettingsUnknown(cause: unknown): never {
  const isToMend = cause instanceof Advice || refusalOf(cause) !== undefined;
  throw isToMend ? new SettingsUnknown((cause as Error).message, { cause }) : cause;
}

function edgeOf(found: EdgeFound): Edge | undefined {
  if (found.state === 'absent') return undefined;
  if (found.state === 'invalid') throw new SettingsUnknown(found.why);
  return found.edge;
}

async function plansOf(
  { namespace, spec: { plansConfigMapRef } }: Edge,
  client: Sources['client'],
): Promise<Plans | undefined> {
  if (plansConfigMapRef === undefined) return undefined;
  const { name, key } = plansConfigMapRef;
  const found = await client.get(configMaps, { name, namespace });
  const place = `the ConfigMap ${namespace}/${name}`;
  if (!found.ok && found.failure.reason === 'NotFound') {
    throw new SettingsUnknown(`${place}, which has the plans, does not exist`);
  }
  const bytes = bytesOf(unwrap(found), { kind: 'ConfigMap', key });
  return parsePlans(bytes?.toString() ?? '', `the key ${key} of ${place}`);
}

/** Undefined if a Secret may name it. */
function ingestBucketOf({ spec: { storage, storageSecretRef } }: Edge): string | undefined {
  const usual = storageSecretRef === undefined ? usualBuckets.ingestBucket : undefined;
  return storage?.ingestBucket ?? usual;
}

/**
 * Reads the variables in the resource itself, not in a Secret; the operator's own settings fill in
 * the rest.
 */
function uploadsOf(edge: Edge | undefined, config: Config): UploadSettings {
  const entries = (edge?.spec.extraEnv ?? []).map(({ name, value }) => [name, value] as const);
  const env = Object.fromEntries(entries.filter(([, value]) => value));
  const parsed = parseConfig(env);
  const choose = <Field extends keyof UploadSettings>(field: Field): Config[Field] =>
    (Object.hasOwn(env, variables[field].name) ? parsed : config)[field];
  return {
    avifUploads: choose('avifUploads'),
    svgUploads: choose('svgUploads'),
    mediaLibraryWrites: choose('mediaLibraryWrites'),
    ingestMaxBytes: choose('ingestMaxBytes'),
  };
}
