/**
 * Every environment variable that configures Tintype, in one table: docs/configuration.md is generated from it, and
 * config.ts parses with it.
 */
import type { z } from 'zod';
import {
  FAILED_AUTHENTICATIONS_PER_MINUTE_PER_IP_DEFAULT,
  INGEST_BYTES_MAX_DEFAULT,
  PROXY_UPLOAD_BYTES_MAX_DEFAULT,
  UNINDEXED_FILES_THRESHOLD_DEFAULT,
  WRITES_PER_MINUTE_PER_PROJECT_DEFAULT,
} from '../core/limits.ts';
import {
  addressRange,
  bucketName,
  bytes,
  choice,
  hostname,
  list,
  listenPort,
  namedKeys,
  onOff,
  origin,
  pairs,
  port,
  secret,
  shares,
  text,
  url,
  wholeNumber,
} from './config-types.ts';
import { failpoints } from './failpoint.ts';

/**
 * How to make a secret, because a printed one would be used by somebody. Refused as they are: only a
 * shell makes them secrets.
 */
export const RANDOM_SECRET = '$(openssl rand -hex 32)';
export const RANDOM_KEY = '$(openssl rand -base64 32)';

export const variables = {
  databaseUrl: {
    name: 'TINTYPE_DATABASE_URL',
    type: url('postgres', 'postgresql'),
    description: 'PostgreSQL, version 15 or newer',
    example: 'postgres://tintype:password@db.internal:5432/tintype',
  },
  amqpUrl: {
    name: 'TINTYPE_AMQP_URL',
    type: url('amqp', 'amqps'),
    description: 'RabbitMQ',
    example: 'amqp://tintype:password@mq.internal:5672',
  },
  s3Endpoint: {
    name: 'TINTYPE_S3_ENDPOINT',
    type: url('http', 'https'),
    description: 'Object storage; its credentials come from the standard AWS variables',
    example: 'https://s3.eu-central-1.amazonaws.com',
  },
  s3Region: {
    name: 'TINTYPE_S3_REGION',
    type: text(),
    description: 'Region of the object storage',
    default: 'us-east-1',
    example: 'eu-central-1',
  },
  s3ForcePathStyle: {
    name: 'TINTYPE_S3_FORCE_PATH_STYLE',
    type: choice('true', 'false'),
    description:
      'Whether bucket names go in the path instead of the host name, as most self-hosted storages require',
    default: 'false',
    example: 'true',
  },
  s3PublicEndpoint: {
    name: 'TINTYPE_S3_PUBLIC_ENDPOINT',
    type: url('http', 'https'),
    description: 'URL of the object storage for browsers, if it differs',
    example: 'https://uploads.example.com',
  },
  ingestBucket: {
    name: 'TINTYPE_INGEST_BUCKET',
    type: bucketName(),
    description: 'Bucket for uploads from clients',
    default: 'tintype-ingest',
    example: 'tintype-ingest',
  },
  contentBucket: {
    name: 'TINTYPE_CONTENT_BUCKET',
    type: bucketName(),
    description: 'Bucket for the images that are served',
    default: 'tintype-content',
    example: 'tintype-content',
  },
  baseUrl: {
    name: 'TINTYPE_BASE_URL',
    type: origin(),
    description: 'Origin of the API',
    example: 'https://api.example.com',
  },
  deliveryRootDomain: {
    name: 'TINTYPE_DELIVERY_ROOT_DOMAIN',
    type: hostname(),
    description: 'Delivery hosts are `<project>.<this domain>`',
    example: 'img.example.com',
  },
  deliveryPublicPort: {
    name: 'TINTYPE_DELIVERY_PUBLIC_PORT',
    type: port(),
    description: 'Port in delivery URLs, if it is not the default port of the scheme',
    example: '8081',
  },
  deliveryScheme: {
    name: 'TINTYPE_DELIVERY_SCHEME',
    type: choice('https', 'http'),
    description: 'Scheme of delivery URLs',
    default: 'https',
    example: 'https',
  },
  uploadBaseUrl: {
    name: 'TINTYPE_UPLOAD_BASE_URL',
    type: origin(),
    description: 'Origin of proxy uploads; unset: the origin of the API',
    example: 'https://upload.example.com',
  },
  identityIssuer: {
    name: 'TINTYPE_IDENTITY_ISSUER',
    type: url('http', 'https'),
    description: 'Issuer of the dashboard sessions (the `iss` of their tokens)',
    example: 'https://id.example.com/clients/tintype',
  },
  identityJwksUrl: {
    name: 'TINTYPE_IDENTITY_JWKS_URL',
    type: url('http', 'https'),
    description: 'Key set of the issuer',
    example: 'https://id.example.com/clients/tintype/jwks.json',
  },
  identityAudience: {
    name: 'TINTYPE_IDENTITY_AUDIENCE',
    type: text(),
    description: 'The `aud` that tokens must carry; unset: not checked',
    example: 'tintype',
  },
  staffApi: {
    name: 'TINTYPE_STAFF_API',
    type: onOff(),
    description: 'Whether /v1/staff is served',
    default: 'disabled',
    example: 'enabled',
  },
  staffSubjects: {
    name: 'TINTYPE_STAFF_SUBJECTS',
    type: list(text()),
    description: 'Comma-separated list of the `sub` of each member of staff',
    default: '',
    example: 'user_7f3a,user_91c0',
  },
  requestSigningSecret: {
    name: 'TINTYPE_REQUEST_SIGNING_SECRET',
    type: secret(),
    description: 'Secret for the X-Request-Signature of dashboard writes',
    example: RANDOM_SECRET,
  },
  storageEventSecret: {
    name: 'TINTYPE_STORAGE_EVENT_SECRET',
    type: secret(),
    description: 'Secret for inbound storage events',
    example: RANDOM_SECRET,
  },
  providerASecret: {
    name: 'TINTYPE_PROVIDER_A_SECRET',
    type: secret(),
    description: "Secret for payment provider A's webhooks",
    example: '<the secret that provider A shows>',
  },
  providerAMode: {
    name: 'TINTYPE_PROVIDER_A_MODE',
    type: choice('test', 'live'),
    description:
      'Mode that events of payment provider A must have; unset: every event that its secret signs is accepted',
    example: 'live',
  },
  providerBSecret: {
    name: 'TINTYPE_PROVIDER_B_SECRET',
    type: secret(),
    description: "Secret for payment provider B's webhooks",
    example: '<the secret that provider B shows>',
  },
  providerBMode: {
    name: 'TINTYPE_PROVIDER_B_MODE',
    type: choice('test', 'live'),
    description: 'Mode that payment provider B must use',
    default: 'test',
    example: 'live',
  },
  keyEncryptionKeys: {
    name: 'TINTYPE_KEY_ENCRYPTION_KEYS',
    type: namedKeys('may only open'),
    description:
      'Keys that encrypt secrets at rest: comma-separated list of `id:base64(32 bytes)`; the first one encrypts, and `tintype job reseal` encrypts everything else with it',
    example: `k1:${RANDOM_KEY}`,
  },
  tokenKeys: {
    name: 'TINTYPE_TOKEN_KEYS',
    type: namedKeys(),
    description:
      'Keys that sign upload URLs, embed URLs, library tokens, cursors and subjects; the first one signs. None of them may be one of TINTYPE_KEY_ENCRYPTION_KEYS',
    example: `t1:${RANDOM_KEY}`,
  },
  ingestMaxBytes: {
    name: 'TINTYPE_INGEST_MAX_BYTES',
    type: bytes(),
    description: 'Largest upload',
    default: String(INGEST_BYTES_MAX_DEFAULT),
    example: '250000000',
  },
  proxyMaxBytes: {
    name: 'TINTYPE_PROXY_MAX_BYTES',
    type: bytes(),
    description: 'Largest upload through the upload proxy',
    default: String(PROXY_UPLOAD_BYTES_MAX_DEFAULT),
    example: '100000000',
  },
  svgUploads: {
    name: 'TINTYPE_SVG_UPLOADS',
    type: onOff(),
    description: 'Whether image/svg+xml is accepted',
    default: 'enabled',
    example: 'disabled',
  },
  avifUploads: {
    name: 'TINTYPE_AVIF_UPLOADS',
    type: onOff(),
    description: 'Whether image/avif is accepted',
    default: 'enabled',
    example: 'disabled',
  },
  mediaLibraryWrites: {
    name: 'TINTYPE_MEDIA_LIBRARY_WRITES',
    type: onOff(),
    description: 'Whether libraries and folders can be changed',
    default: 'enabled',
    example: 'disabled',
  },
  librarySessions: {
    name: 'TINTYPE_LIBRARY_SESSIONS',
    type: onOff(),
    description: 'Whether library sessions and the picker are available',
    default: 'enabled',
    example: 'disabled',
  },
  apiPort: {
    name: 'TINTYPE_API_PORT',
    type: listenPort(),
    description: 'Port that the API listens on; 0: any free port',
    default: '8080',
    example: '8080',
  },
  deliveryPort: {
    name: 'TINTYPE_DELIVERY_PORT',
    type: listenPort(),
    description: 'Port that delivery listens on; 0: any free port',
    default: '8081',
    example: '8081',
  },
  ingestSlots: {
    name: 'TINTYPE_INGEST_SLOTS',
    type: wholeNumber(0, 256),
    description:
      'Uploads that a worker decodes at a time; with 1, an upload that hangs blocks all others; 0: none, other workers do it',
    default: '2',
    example: '4',
  },
  ingestMemoryBytes: {
    name: 'TINTYPE_INGEST_MEMORY_BYTES',
    type: bytes(),
    description:
      'Memory that all uploads that a worker decodes at a time may use together; unset: 2 GiB per slot, at most 60 % of the memory',
    example: '4294967296',
  },
  renderSlots: {
    name: 'TINTYPE_RENDER_SLOTS',
    type: wholeNumber(0, 256),
    description:
      'Images that a worker renders at a time; 0: none, other workers do it; unset: one per core',
    example: '4',
  },
  spoolDir: {
    name: 'TINTYPE_SPOOL_DIR',
    type: text(),
    description: 'Folder that holds usage until it is in the database',
    example: '/var/spool/tintype',
  },
  trustedProxies: {
    name: 'TINTYPE_TRUSTED_PROXIES',
    type: list(addressRange()),
    description: 'Comma-separated list of addresses and ranges whose X-Forwarded-For is trusted',
    default: '',
    example: '10.0.0.0/8,192.168.1.7',
  },
  dashboardOrigins: {
    name: 'TINTYPE_DASHBOARD_ORIGINS',
    type: list(origin()),
    description: 'Comma-separated list of origins that may call the API from a browser',
    default: '',
    example: 'https://app.example.com',
  },
  marketingOrigins: {
    name: 'TINTYPE_MARKETING_ORIGINS',
    type: list(origin()),
    description: 'Comma-separated list of origins that may post access requests',
    default: '',
    example: 'https://www.example.com',
  },
  plans: {
    name: 'TINTYPE_PLANS',
    type: text(),
    description:
      'File with the plans and their allowances; unset: the plans trial, starter, builder and growth',
    example: '/etc/tintype/plans.yaml',
  },
  providerAPlans: {
    name: 'TINTYPE_PROVIDER_A_PLANS',
    type: pairs(),
    description:
      "Plan that each of payment provider A's prices buys: comma-separated list of `price=plan`",
    default: '',
    example: 'price_1Abc=starter,price_2Def=builder',
  },
  providerBPlans: {
    name: 'TINTYPE_PROVIDER_B_PLANS',
    type: pairs(),
    description:
      "Plan that each of payment provider B's products buys: comma-separated list of `product=plan`",
    default: '',
    example: 'prod_1Abc=starter,prod_2Def=builder',
  },
  providerBUrl: {
    name: 'TINTYPE_PROVIDER_B_URL',
    type: url('http', 'https'),
    description: "URL of payment provider B's API",
    example: 'https://api.provider-b.example',
  },
  providerBApiKey: {
    name: 'TINTYPE_PROVIDER_B_API_KEY',
    type: secret(8),
    description: "Key for payment provider B's API",
    example: 'key-of-provider-b',
  },
  rateFailedAuthentications: {
    name: 'TINTYPE_RATE_FAILED_AUTHENTICATIONS',
    type: wholeNumber(1, 1_000_000),
    description:
      'Failed authentications per minute and address (IPv6: /64 network) that are answered 401; further ones are answered 429, and until the minute ends, credentials that are new to the process are looked up one at a time',
    default: String(FAILED_AUTHENTICATIONS_PER_MINUTE_PER_IP_DEFAULT),
    example: '20',
  },
  rateWrites: {
    name: 'TINTYPE_RATE_WRITES',
    type: wholeNumber(1, 1_000_000),
    description: 'Writes per minute and project, over all processes; further ones are answered 429',
    default: String(WRITES_PER_MINUTE_PER_PROJECT_DEFAULT),
    example: '600',
  },
  unindexedThreshold: {
    name: 'TINTYPE_UNINDEXED_THRESHOLD',
    type: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    description:
      'Number of files in a project above which filters need library indexes; 0: no limit',
    default: String(UNINDEXED_FILES_THRESHOLD_DEFAULT),
    example: '100000',
  },
  callbackEgress: {
    name: 'TINTYPE_CALLBACK_EGRESS',
    type: choice('public', 'any'),
    description:
      'Where webhooks may be sent; `any` (loopback, http) is for tests and refused in production',
    default: 'public',
    example: 'public',
  },
  callbackPorts: {
    name: 'TINTYPE_CALLBACK_PORTS',
    type: list(port()).refine((ports) => ports.length > 0, 'a comma list of ports'),
    description:
      'Comma-separated list of ports that webhooks may be sent to, unless TINTYPE_CALLBACK_EGRESS is `any`',
    default: '443,8443',
    example: '443,8443',
  },
  cdn: {
    name: 'TINTYPE_CDN',
    type: choice('none', 'http-purge', 'cloudflare', 'fastly', 'cloudfront'),
    description: 'CDN whose cache is purged',
    default: 'none',
    example: 'http-purge',
  },
  cdnUrl: {
    name: 'TINTYPE_CDN_URL',
    type: list(url('http', 'https')),
    description:
      'URL that purges are sent to (`http-purge`; with several caches, a comma-separated list: each one gets every purge), or another URL of the CDN’s API',
    default: '',
    example: 'http://varnish-0.internal:6081,http://varnish-1.internal:6081',
  },
  cdnZone: {
    name: 'TINTYPE_CDN_ZONE',
    type: text(),
    description: 'Zone (Cloudflare), service (Fastly) or distribution (CloudFront)',
    example: '023e105f4ecef8ad9ca31a8372d0c353',
  },
  cdnToken: {
    name: 'TINTYPE_CDN_TOKEN',
    type: secret(8),
    description: 'Token for the API of the CDN',
    example: 'token-of-the-cdn',
  },
  cdnMethod: {
    name: 'TINTYPE_CDN_METHOD',
    type: choice('BAN', 'PURGE'),
    description:
      'How `http-purge` purges a cache: BAN by tags (Varnish), or PURGE of everything on a host (nginx)',
    default: 'BAN',
    example: 'PURGE',
  },
  cdnCallsPerMinute: {
    name: 'TINTYPE_CDN_CALLS_PER_MINUTE',
    type: wholeNumber(1, 600_000),
    description:
      "Calls per minute to the CDN's API that its plan allows; unset: the limit of the smallest plan",
    example: '300',
  },
  scanner: {
    name: 'TINTYPE_SCANNER',
    type: choice('none', 'http', 'embedded'),
    description: 'Automatic scanner',
    default: 'none',
    example: 'http',
  },
  scannerUrl: {
    name: 'TINTYPE_SCANNER_URL',
    type: url('http', 'https'),
    description: 'URL of the scanner (`http`)',
    example: 'http://scanner.internal:9000/scan',
  },
  scannerThresholds: {
    name: 'TINTYPE_SCANNER_THRESHOLDS',
    type: shares(),
    description: 'Lowest score that raises a flag: comma-separated list of `flag=0..1`',
    default: '',
    example: 'nudity=0.85',
  },
  watchNamespaces: {
    name: 'TINTYPE_WATCH_NAMESPACES',
    type: list(hostname()),
    description: 'Comma-separated list of the namespaces that the operator serves; unset: all',
    default: '',
    example: 'shop,blog',
  },
  runtimeNamespaces: {
    name: 'TINTYPE_RUNTIME_NAMESPACES',
    type: list(hostname()),
    description:
      'Comma-separated list of the namespaces that an ImageService may be in; unset: that of TINTYPE_DELIVERY_NAMESPACE',
    default: '',
    example: 'tintype-system',
  },
  deliveryNamespace: {
    name: 'TINTYPE_DELIVERY_NAMESPACE',
    type: hostname(),
    description:
      "Namespace of the delivery ingress, which its ImageService must be in; unset: the operator's own, else `tintype-delivery`",
    example: 'tintype-delivery',
  },
  logLevel: {
    name: 'TINTYPE_LOG_LEVEL',
    type: choice('debug', 'info', 'warn', 'error', 'silent'),
    description: 'The lowest level that is logged',
    default: 'info',
    example: 'debug',
  },
  metricsPort: {
    name: 'TINTYPE_METRICS_PORT',
    type: listenPort(),
    description: 'Port that serves GET /livez, /readyz and /metrics; unset: none; 0: any free port',
    example: '9464',
  },
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    type: url('http', 'https'),
    description: 'Collector that traces are sent to; unset: no traces',
    example: 'http://otel-collector.internal:4318',
  },
  failpoint: {
    name: 'TINTYPE_FAILPOINT',
    type: choice(...failpoints),
    description:
      'The step at which the process kills itself; for tests only, refused in production',
    example: 'ingest.before_publish',
  },
  nodeEnv: {
    name: 'NODE_ENV',
    type: text(),
    description: '`production` refuses settings that are for tests only',
    default: 'development',
    example: 'production',
  },
} as const satisfies Record<string, Variable>;

export type Variable = {
  name: string;
  type: z.ZodType<unknown, string>;
  description: string;
  /** As written in the environment. */
  default?: string;
  example: string;
};
