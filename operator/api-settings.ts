/**
 * What the API of an installation is told, for what the operator does in its place: it gives the organization of a
 * namespace its trial, and uploads the images that presets bring. Both go by the ImageService of the delivery namespace,
 * so that a project has the same room, and takes the same types, by either way. Spec: Organization; Uploads.
 */
import type { UploadSettings } from '../runtime/actions/create-upload.ts';
import type { Plans } from '../runtime/core/plans.ts';
import { Advice } from '../runtime/platform/advice.ts';
import { type Config, parseConfig } from '../runtime/platform/config.ts';
import { variables } from '../runtime/platform/config-variables.ts';
import { parsePlans, readPlans } from '../runtime/platform/plans-file.ts';
import type { KubeClient } from './kube/client.ts';
import { bytesOf, configMaps } from './kube/core-types.ts';
import { unwrap } from './kube/kube-failure.ts';
import type { Edge, EdgeFound } from './routes/edge.ts';

export type ApiSettings = {
  plans: Plans;
  uploads: UploadSettings;
  /** Where workers look for uploads, as far as the resource itself says it. */
  ingestBucket?: string | undefined;
};

/** Nobody can tell what the API goes by, and nothing is guessed. */
export class SettingsUnknown extends Error {}

type Sources = {
  client: Pick<KubeClient, 'get'>;
  /** By the word of the API server: an organization gets its trial once. */
  findEdge(): Promise<EdgeFound>;
};

/** A file of plans that the operator itself was given goes before that of the ImageService. Throws Advice where it is wrong. */
export function createApiSettings(
  config: Config,
  { client, findEdge }: Sources,
): () => Promise<ApiSettings> {
  const own = readPlans(config);
  return async () => {
    const edge = edgeOf(await findEdge());
    const told = config.plans === undefined && edge && (await plansOf(edge, client));
    const ingestBucket = edge?.spec.storage?.ingestBucket;
    return { plans: told || own, uploads: uploadsOf(edge, config), ingestBucket };
  };
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
    throw new SettingsUnknown(`${place}, which has the plans, is not there`);
  }
  const bytes = bytesOf(unwrap(found), { kind: 'ConfigMap', key });
  try {
    return parsePlans(bytes?.toString() ?? '', `the key ${key} of ${place}`);
  } catch (cause) {
    throw cause instanceof Advice ? new SettingsUnknown(cause.message, { cause }) : cause;
  }
}

/** Of the variables that stand in the resource, not in a Secret: whatever they do not say the operator's own do. */
function uploadsOf(edge: Edge | undefined, config: Config): UploadSettings {
  const told = (edge?.spec.extraEnv ?? []).map(({ name, value }) => [name, value] as const);
  const env = Object.fromEntries(told.filter(([, value]) => value));
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
