/**
 * The environment of each process of an installation: one row per variable, with the processes that get it and the
 * source of its value. Secrets are referenced, never copied, and only processes that need one get it.
 */
import type { ConfigField } from '../../../runtime/platform/config.ts';
import { variables } from '../../../runtime/platform/config-variables.ts';
import type { Process } from '../installation.ts';
import type { ImageServiceSpec } from '../schema.ts';
import { ACCESS_KEYS, optionalKeys, requiredKeys, storageKeys, urlKey } from '../secrets.ts';
import { heapOf, ingestMemoryOf, slotsOf } from './sizes.ts';

export type EnvironmentVariable = {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef: { name: string; key: string; optional?: true } };
};

export const ports = { api: 8080, delivery: 8081, metrics: 9464 } as const;
export const SPOOL_FOLDER = '/var/spool/tintype';
export const PLANS_FOLDER = '/etc/tintype/plans';
export const AUTHORITIES_FOLDER = '/etc/tintype/ca';

export function environmentOf(process: Process, spec: ImageServiceSpec): EnvironmentVariable[] {
  const own = rows
    .filter(({ of }) => of.includes(process))
    .flatMap((row) => printVariable(row.name, row.from(spec, process)));
  return process === 'migrate' ? own : [...own, ...extraVariables(spec)];
}

type FromSecret = { secret: string; key: string; presence: 'required' | 'optional' };
type Source = string | number | FromSecret | undefined;

type Row = {
  name: string;
  of: readonly Process[];
  from(spec: ImageServiceSpec, process: Process): Source;
};

const everywhere: readonly Process[] = [
  'api',
  'delivery',
  'dispatcher',
  'worker-ingest',
  'worker-render',
  'job',
  'migrate',
];
const atWork = everywhere.filter((process) => process !== 'migrate');
const standing = atWork.filter((process) => process !== 'job');
const ingest: readonly Process[] = ['worker-ingest'];
/** Workers queue a check for each revision, and the dispatcher scans. */
const scanning: readonly Process[] = ['worker-ingest', 'dispatcher'];
/**
 * The jobs that purge, probe and send are due every minute and run in the dispatcher: no CronJob's
 * pod calls out.
 */
const calling: readonly Process[] = ['dispatcher'];

function row(field: ConfigField, of: readonly Process[], from: Row['from']): Row {
  return { name: variables[field].name, of, from };
}

const lower = (word: string | undefined) => word?.toLowerCase();
const joined = (items: readonly string[] | undefined) =>
  items === undefined || items.length === 0 ? undefined : items.join(',');

const cdnKinds = {
  None: 'none',
  HTTPPurge: 'http-purge',
  Cloudflare: 'cloudflare',
  Fastly: 'fastly',
  CloudFront: 'cloudfront',
} as const;

const rows: readonly Row[] = [
  { name: variables.nodeEnv.name, of: everywhere, from: () => 'production' },
  {
    name: 'NODE_OPTIONS',
    of: everywhere,
    from: (spec, process) => `--max-old-space-size=${heapOf(spec, process)}`,
  },
  {
    name: 'NODE_EXTRA_CA_CERTS',
    of: everywhere,
    from: ({ caConfigMapRef }) => caConfigMapRef && `${AUTHORITIES_FOLDER}/${caConfigMapRef.key}`,
  },
  row('logLevel', everywhere, (spec) => lower(spec.logLevel)),
  row('metricsPort', standing, () => ports.metrics),
  row('otlpEndpoint', atWork, (spec) => spec.otlpEndpoint),
  row('databaseUrl', everywhere, (spec) => url(spec.databaseSecretRef)),
  row('amqpUrl', atWork, (spec) => url(spec.amqpSecretRef)),
  ...Object.entries(storageKeys).map(([field, key]) =>
    row(field as keyof typeof storageKeys, atWork, (spec) => storageValue(spec, field, key)),
  ),
  row('s3ForcePathStyle', atWork, ({ storage }) =>
    storage?.addressing === undefined ? undefined : String(storage.addressing === 'Path'),
  ),
  ...ACCESS_KEYS.map((key) => ({
    name: key,
    of: atWork,
    from: ({ storageSecretRef }: ImageServiceSpec) =>
      storageSecretRef && { secret: storageSecretRef.name, key, presence: 'required' as const },
  })),
  row('s3PublicEndpoint', ['api'], ({ storage }) => storage?.publicEndpoint),
  row('baseUrl', ['api', 'delivery', 'dispatcher'], (spec) => spec.baseURL),
  row('uploadBaseUrl', ['api'], (spec) => spec.uploadBaseURL),
  row('apiPort', ['api'], () => ports.api),
  row('deliveryPort', ['delivery'], () => ports.delivery),
  row('deliveryRootDomain', ['api', 'delivery', ...calling], (spec) => spec.deliveryRootDomain),
  row('deliveryScheme', ['api', 'dispatcher'], (spec) => lower(spec.deliveryScheme)),
  row('deliveryPublicPort', ['api', 'dispatcher'], (spec) => spec.deliveryPublicPort),
  row('identityIssuer', ['api'], ({ identity }) => identity.issuer),
  row('identityJwksUrl', ['api'], ({ identity }) => identity.jwksURL ?? usualKeys(identity.issuer)),
  row('identityAudience', ['api'], ({ identity }) => identity.audience),
  row('staffApi', ['api'], ({ staff }) => lower(staff?.api)),
  row('staffSubjects', ['api'], ({ staff }) => joined(staff?.subjects)),
  row('dashboardOrigins', ['api'], (spec) => joined(spec.dashboardOrigins)),
  row('marketingOrigins', ['api'], (spec) => joined(spec.marketingOrigins)),
  row('trustedProxies', ['api'], (spec) => joined(spec.trustedProxies)),
  ...requiredKeys.map((field) =>
    row(
      field,
      field === 'keyEncryptionKeys' ? ['api', 'delivery', 'dispatcher'] : ['api'],
      (spec) => fromKeys(spec, field, 'required'),
    ),
  ),
  ...optionalKeys.map((field) => row(field, ['api'], (spec) => fromKeys(spec, field, 'optional'))),
  row('spoolDir', ['delivery'], () => SPOOL_FOLDER),
  row('ingestSlots', ['worker-ingest', 'worker-render'], (spec, process) =>
    process === 'worker-ingest' ? slotsOf(spec, 'ingest') : 0,
  ),
  row('renderSlots', ['worker-ingest', 'worker-render'], (spec, process) =>
    process === 'worker-render' ? slotsOf(spec, 'render') : 0,
  ),
  row('ingestMemoryBytes', ingest, (spec) => ingestMemoryOf(spec)),
  row(
    'plans',
    ['api'],
    ({ plansConfigMapRef }) => plansConfigMapRef && `${PLANS_FOLDER}/${plansConfigMapRef.key}`,
  ),
  row('cdn', calling, ({ cdn }) => cdnKinds[cdn?.kind ?? 'None']),
  row('cdnUrl', calling, ({ cdn }) => joined(cdn?.urls)),
  row('cdnZone', calling, ({ cdn }) => cdn?.zone),
  row('cdnMethod', calling, ({ cdn }) => cdn?.method),
  row('cdnCallsPerMinute', calling, ({ cdn }) => cdn?.callsPerMinute),
  row('cdnToken', calling, (spec) => fromKeys(spec, 'cdnToken', 'optional')),
  row('scanner', scanning, ({ scanner }) => lower(scanner?.kind)),
  row('scannerUrl', scanning, ({ scanner }) => scanner?.url),
  row('scannerThresholds', scanning, ({ scanner }) => joined(scanner?.thresholds)),
];

function url(reference: { name: string; key?: string | undefined }): FromSecret {
  return { secret: reference.name, key: urlKey(reference), presence: 'required' };
}

function storageValue(
  { storage, storageSecretRef }: ImageServiceSpec,
  field: string,
  key: (typeof storageKeys)[keyof typeof storageKeys],
): Source {
  const declared = storage?.[key];
  if (declared !== undefined || storageSecretRef === undefined) return declared;
  const variable = variables[field as keyof typeof storageKeys];
  const presence = field === 's3Endpoint' ? 'required' : 'optional';
  return { secret: storageSecretRef.name, key: variable.name, presence };
}

function fromKeys(
  { keysSecretRef }: ImageServiceSpec,
  field: ConfigField,
  presence: FromSecret['presence'],
): Source {
  return { secret: keysSecretRef.name, key: variables[field].name, presence };
}

/** The URL where most identity providers publish their keys. */
function usualKeys(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/jwks.json`;
}

function printVariable(name: string, source: Source): EnvironmentVariable[] {
  if (source === undefined) return [];
  if (typeof source !== 'object') return [{ name, value: String(source) }];
  const { secret, key, presence } = source;
  const reference = { name: secret, key };
  const secretKeyRef =
    presence === 'optional' ? { ...reference, optional: true as const } : reference;
  return [{ name, valueFrom: { secretKeyRef } }];
}

function extraVariables({ extraEnv }: ImageServiceSpec): EnvironmentVariable[] {
  return (extraEnv ?? []).map(({ name, value, secretKeyRef }) => {
    return secretKeyRef === undefined
      ? // The API server drops an empty value, which would then differ at each apply.
        { name, ...(value ? { value } : {}) }
      : { name, valueFrom: { secretKeyRef } };
  });
}
