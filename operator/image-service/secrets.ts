/**
 * What an installation needs from its Secrets, and what is wrong with them: reported before anything starts, instead of
 * by a crashing pod. Values never leave this file, except the ports of URLs and one digest of everything.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ConfigField } from '../../runtime/platform/config.ts';
import { type Variable, variables } from '../../runtime/platform/config-variables.ts';
import { findVariable } from './extra-env.ts';
import type { ImageServiceSpec } from './schema.ts';

/** By name; a Secret that does not exist has no entry. */
export type FoundSecrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type SecretProblem = {
  reason: 'SecretNotFound' | 'SecretKeyMissing' | 'SecretInvalid';
  message: string;
};

/** The ports that pods must reach; that of payments only if its address is set. */
export type Endpoints = { database: number; amqp: number; storage: number; payments?: number };

export type SecretsValidation = { problems: SecretProblem[]; endpoints: Endpoints; digest: string };

export function validateSecrets(spec: ImageServiceSpec, found: FoundSecrets): SecretsValidation {
  const needs = secretNeeds(spec);
  return {
    problems: [...missingSecrets(needs, found), ...needs.flatMap((need) => problemOf(need, found))],
    endpoints: findEndpoints(spec, needs, found),
    digest: digestOf(needs, found),
  };
}

export type SecretNeed = {
  /** The field of the spec that names the Secret. */
  field: string;
  secret: string;
  key: string;
  presence: 'required' | 'optional';
  /** What the value must be; absent: anything. */
  variable?: Pick<Variable, 'type' | 'description'>;
  /** KEDA: no pod receives the value, so a change replaces none. */
  reader?: 'KEDA';
};

export const ACCESS_KEYS = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;

/** Keys of `keysSecretRef`, each named after its variable. */
export const requiredKeys = [
  'keyEncryptionKeys',
  'tokenKeys',
  'requestSigningSecret',
  'storageEventSecret',
] as const satisfies readonly ConfigField[];

export const optionalKeys = [
  'providerASecret',
  'providerBSecret',
  'providerBApiKey',
] as const satisfies readonly ConfigField[];

/** What `storage` may leave to `storageSecretRef`. */
export const storageKeys = {
  s3Endpoint: 'endpoint',
  s3Region: 'region',
  ingestBucket: 'ingestBucket',
  contentBucket: 'contentBucket',
} as const satisfies Partial<Record<ConfigField, keyof NonNullable<ImageServiceSpec['storage']>>>;

export function urlKey(reference: { key?: string | undefined }): string {
  return reference.key ?? 'url';
}

export function secretNeeds(spec: ImageServiceSpec): SecretNeed[] {
  return [
    urlNeed('databaseSecretRef', spec.databaseSecretRef, variables.databaseUrl),
    urlNeed('amqpSecretRef', spec.amqpSecretRef, variables.amqpUrl),
    ...managementNeed(spec),
    ...storageNeeds(spec),
    ...keyNeeds(spec),
    ...extraNeeds(spec),
  ];
}

type UrlReference = { name: string; key?: string | undefined };

function urlNeed(field: string, reference: UrlReference, variable: Variable): SecretNeed {
  const key = urlKey(reference);
  return { field, secret: reference.name, key, presence: 'required', variable };
}

/** KEDA does not trim white space. */
const AS_IT_IS = z
  .string()
  .refine((value) => value === value.trim(), 'an address without white space around it');

function managementNeed({
  amqpSecretRef: { name, managementKey },
}: ImageServiceSpec): SecretNeed[] {
  if (managementKey === undefined) return [];
  const type = AS_IT_IS.pipe(variables.s3Endpoint.type);
  const of = { field: 'amqpSecretRef', secret: name, key: managementKey, reader: 'KEDA' } as const;
  return [
    { ...of, presence: 'required', variable: { type, description: 'RabbitMQ’s management API' } },
  ];
}

function storageNeeds({ storageSecretRef, storage }: ImageServiceSpec): SecretNeed[] {
  if (storageSecretRef === undefined) return [];
  const of = { field: 'storageSecretRef', secret: storageSecretRef.name };
  const credentials = ACCESS_KEYS.map((key) => ({ ...of, key, presence: 'required' as const }));
  const others = Object.entries(storageKeys)
    .filter(([, field]) => storage?.[field] === undefined)
    .map(([field]) => {
      const variable = variables[field as keyof typeof storageKeys];
      const presence = field === 's3Endpoint' ? ('required' as const) : ('optional' as const);
      return { ...of, key: variable.name, presence, variable };
    });
  return [...credentials, ...others];
}

function keyNeeds({ keysSecretRef, cdn }: ImageServiceSpec): SecretNeed[] {
  const of = { field: 'keysSecretRef', secret: keysSecretRef.name };
  const need = (field: ConfigField, presence: SecretNeed['presence']) => {
    const variable = variables[field];
    return { ...of, key: variable.name, presence, variable };
  };
  const isTokenNeeded = cdn?.kind === 'Cloudflare' || cdn?.kind === 'Fastly';
  return [
    ...requiredKeys.map((field) => need(field, 'required')),
    ...optionalKeys.map((field) => need(field, 'optional')),
    need('cdnToken', isTokenNeeded ? 'required' : 'optional'),
  ];
}

/** Secrets named in `extraEnv` must exist too. */
function extraNeeds({ extraEnv = [] }: ImageServiceSpec): SecretNeed[] {
  return extraEnv.flatMap(({ name, secretKeyRef }): SecretNeed[] => {
    if (secretKeyRef === undefined) return [];
    const variable = findVariable(name);
    const of = { field: 'extraEnv', secret: secretKeyRef.name, key: secretKeyRef.key };
    return [{ ...of, presence: 'required', ...(variable && { variable }) }];
  });
}

function missingSecrets(needs: readonly SecretNeed[], found: FoundSecrets): SecretProblem[] {
  const missing = new Map(
    needs
      .filter(({ secret }) => found[secret] === undefined)
      .map(({ secret, field }) => [secret, field]),
  );
  return [...missing].map(([secret, field]) => {
    const keys = needs.filter((need) => need.secret === secret && need.presence === 'required');
    const names = `${keys.length === 1 ? 'key' : 'keys'} ${keys.map(({ key }) => key).join(', ')}`;
    return {
      reason: 'SecretNotFound',
      message: `Secret '${secret}' (\`spec.${field}\`) does not exist: create it in this namespace with the ${names}.`,
    };
  });
}

function problemOf(need: SecretNeed, found: FoundSecrets): SecretProblem[] {
  const secret = found[need.secret];
  if (secret === undefined) return [];
  const value = secret[need.key] ?? '';
  const at = `of Secret '${need.secret}' (\`spec.${need.field}\`)`;
  if (value === '') return need.presence === 'optional' ? [] : [absence(need, at, secret)];
  const issue = need.variable?.type.safeParse(value).error?.issues[0];
  if (issue === undefined) return [];
  return [
    { reason: 'SecretInvalid', message: `Key '${need.key}' ${at} must be ${issue.message}.` },
  ];
}

function absence(
  { key, variable }: SecretNeed,
  at: string,
  secret: Readonly<Record<string, string>>,
): SecretProblem {
  const named = `Key '${key}'${variable === undefined ? '' : ` (${variable.description})`} ${at}`;
  if (secret[key] !== undefined) {
    return { reason: 'SecretInvalid', message: `${named} is empty: give it its value.` };
  }
  const keys = Object.keys(secret).toSorted();
  const there = keys.length === 0 ? 'the Secret is empty' : `it has ${keys.join(', ')}`;
  return { reason: 'SecretKeyMissing', message: `${named} is missing: ${there}.` };
}

const PORTS: Readonly<Record<string, number>> = {
  'postgres:': 5432,
  'postgresql:': 5432,
  'amqp:': 5672,
  'amqps:': 5671,
  'http:': 80,
  'https:': 443,
};

/** The port of a URL; `otherwise` if the address is no URL. */
export function portOf(address: string | undefined, otherwise: number): number {
  const url = URL.parse(address ?? '');
  if (url === null) return otherwise;
  return Number(url.port) || (PORTS[url.protocol] ?? otherwise);
}

function findEndpoints(
  { storage, extraEnv }: ImageServiceSpec,
  needs: readonly SecretNeed[],
  found: FoundSecrets,
): Endpoints {
  const find = (variable: Variable) => {
    const need = needs.find((each) => each.variable === variable);
    return need && found[need.secret]?.[need.key];
  };
  const named = extraEnv?.find(({ name }) => name === variables.providerBUrl.name);
  const payments = named?.value ?? find(variables.providerBUrl);
  return {
    database: portOf(find(variables.databaseUrl), 5432),
    amqp: portOf(find(variables.amqpUrl), 5672),
    storage: portOf(storage?.endpoint ?? find(variables.s3Endpoint), 443),
    ...(payments === undefined ? {} : { payments: portOf(payments, 443) }),
  };
}

/**
 * A digest of all values: as it includes random 256-bit keys, no single value can be guessed from
 * it.
 */
function digestOf(needs: readonly SecretNeed[], found: FoundSecrets): string {
  const values = needs
    .filter(({ reader }) => reader === undefined)
    .map(({ secret, key }) => [secret, key, found[secret]?.[key] ?? null]);
  return createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 16);
}
