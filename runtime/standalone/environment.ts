/** The configuration that `tintype up` sets itself; a variable of the environment overrides its own. */
import { type Environment, parseConfig } from '../platform/config.ts';
import type { Secrets } from './secrets.ts';

export const STAFF_SUBJECT = 'staff';

export type Ports = { api: number; delivery: number };

export function standaloneConfig(of: {
  env: Environment;
  secrets: Secrets;
  ports: Ports;
  databaseUrl: string;
  spoolFolder: string;
}) {
  const given = Object.fromEntries(Object.entries(of.env).filter(([, value]) => value !== ''));
  return parseConfig({ ...ownEnvironment(of), ...given }, REQUIRED);
}

export type StandaloneConfig = ReturnType<typeof standaloneConfig>;

const REQUIRED = [
  'databaseUrl',
  'baseUrl',
  'deliveryRootDomain',
  'identityIssuer',
  'identityJwksUrl',
  'requestSigningSecret',
  'keyEncryptionKeys',
  'tokenKeys',
  'storageEventSecret',
  'providerASecret',
  'providerBSecret',
  'spoolDir',
] as const;

function ownEnvironment(of: {
  secrets: Secrets;
  ports: Ports;
  databaseUrl: string;
  spoolFolder: string;
}): Environment {
  const { secrets, ports } = of;
  const baseUrl = `http://localhost:${ports.api}`;
  return {
    TINTYPE_DATABASE_URL: of.databaseUrl,
    TINTYPE_BASE_URL: baseUrl,
    TINTYPE_API_PORT: String(ports.api),
    TINTYPE_DELIVERY_ROOT_DOMAIN: 'localhost',
    TINTYPE_DELIVERY_PORT: String(ports.delivery),
    TINTYPE_DELIVERY_PUBLIC_PORT: String(ports.delivery),
    TINTYPE_DELIVERY_SCHEME: 'http',
    TINTYPE_IDENTITY_ISSUER: `${baseUrl}/identity`,
    TINTYPE_IDENTITY_JWKS_URL: `${baseUrl}/identity/jwks.json`,
    TINTYPE_STAFF_API: 'enabled',
    TINTYPE_STAFF_SUBJECTS: STAFF_SUBJECT,
    TINTYPE_REQUEST_SIGNING_SECRET: secrets.request_signing_secret,
    TINTYPE_STORAGE_EVENT_SECRET: secrets.storage_event_secret,
    TINTYPE_PROVIDER_A_SECRET: secrets.provider_a_secret,
    TINTYPE_PROVIDER_B_SECRET: secrets.provider_b_secret,
    TINTYPE_PROVIDER_B_MODE: 'test',
    TINTYPE_KEY_ENCRYPTION_KEYS: secrets.key_encryption_keys,
    TINTYPE_TOKEN_KEYS: secrets.token_keys,
    TINTYPE_SPOOL_DIR: of.spoolFolder,
  };
}

/** Of the environment, what another process needs to reach the same storage, broker and identity provider. */
export function backendsOf(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      return Boolean(value) && BACKENDS.test(name);
    }),
  );
}

const BACKENDS =
  /^TINTYPE_(AMQP_URL|S3_[A-Z_]+|INGEST_BUCKET|CONTENT_BUCKET|IDENTITY_[A-Z_]+|CDN|CDN_[A-Z_]+)$/;
