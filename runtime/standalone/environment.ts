/** The configuration that `tintype up` sets by default; a variable of the environment overrides it. */
import { type Config, type Environment, parseConfig } from '../platform/config.ts';
import type { ReservedPort } from '../platform/http/listen.ts';
import type { Secrets } from './secrets.ts';

export const STAFF_SUBJECT = 'staff';

export type Ports = { api: ReservedPort; delivery: ReservedPort };

type PortNumbers = { [Name in keyof Ports]: Pick<ReservedPort, 'port'> };

const ROOT_DOMAIN = 'localhost';

/**
 * Checks the given configuration before anything starts. Most values that `tintype up` sets itself
 * are not known yet; only the domain of its hosts is added, because some settings are refused
 * without it.
 */
export function givenConfig(env: Environment): Config {
  const given = env['TINTYPE_DELIVERY_ROOT_DOMAIN'];
  return parseConfig({ ...env, TINTYPE_DELIVERY_ROOT_DOMAIN: given || ROOT_DOMAIN });
}

type Own = { secrets: Secrets; ports: PortNumbers; databaseUrl: string; spoolFolder: string };

/** The complete environment of this Tintype: its own values, overridden by the given ones. */
export function standaloneEnvironment(env: Environment, own: Own): Environment {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  return { ...ownEnvironment(own), ...given, ...listening(own.ports) };
}

/**
 * The ports that were found. They override the variables, because addresses are built from them.
 */
function listening(ports: PortNumbers): Environment {
  return {
    TINTYPE_API_PORT: String(ports.api.port),
    TINTYPE_DELIVERY_PORT: String(ports.delivery.port),
  };
}

export function standaloneConfig(environment: Environment) {
  return parseConfig(environment, REQUIRED);
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

/**
 * The API's origin on this machine, whatever address others use: its identity provider is only
 * reachable here.
 */
export function ownOrigin({ api }: PortNumbers): string {
  return `http://localhost:${api.port}`;
}

function ownEnvironment({ secrets, ports, databaseUrl, spoolFolder }: Own): Environment {
  const baseUrl = ownOrigin(ports);
  return {
    TINTYPE_DATABASE_URL: databaseUrl,
    TINTYPE_BASE_URL: baseUrl,
    TINTYPE_DELIVERY_ROOT_DOMAIN: ROOT_DOMAIN,
    TINTYPE_DELIVERY_PUBLIC_PORT: String(ports.delivery.port),
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
    TINTYPE_SPOOL_DIR: spoolFolder,
  };
}
