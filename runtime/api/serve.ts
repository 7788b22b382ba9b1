/** An API process: its server, not listening yet, made from the configuration, and how it ends. */
import type { RequestListener, Server } from 'node:http';
import type { Deps } from '../actions/open-deps.ts';
import { defaultPlans } from '../core/plans.ts';
import { deriveKey } from '../core/signing/hmac.ts';
import type { ConfigField, ConfigWith } from '../platform/config.ts';
import { prepareToClose } from '../platform/http/close-server.ts';
import { createIdentity } from '../platform/identity.ts';
import { createSealing } from '../platform/sealing.ts';
import { createApi } from './app.ts';
import type { ApiDeps } from './deps.ts';
import { createRates } from './rates/rates.ts';
import { createApiServer } from './server.ts';

/** What an API has to be told beside what every process is told. */
export const apiFields = [
  'baseUrl',
  'deliveryRootDomain',
  'identityIssuer',
  'identityJwksUrl',
  'requestSigningSecret',
  'storageEventSecret',
  'keyEncryptionKeys',
  'tokenKeys',
] as const satisfies readonly ConfigField[];

export type ApiConfig = ConfigWith<(typeof apiFields)[number]>;

export type ApiProcess = {
  server: Server;
  /** Takes nothing new and lets requests under way end, uploads among them. */
  stop(): Promise<void>;
};

/** Serves what else is on this port; returns whether the request was for it. */
export type Beside = (...exchange: Parameters<RequestListener>) => boolean;

/** How long requests under way may take at the end. */
const DRAIN_MS = 12_000;

export function startApi(
  deps: Deps,
  { config, beside = [] }: { config: ApiConfig; beside?: readonly Beside[] },
): ApiProcess {
  const api = createApi(apiDeps(deps, config));
  const server = createApiServer((request, response) => {
    if (!beside.some((handle) => handle(request, response))) api(request, response);
  });
  const closing = prepareToClose(server);
  return { server, stop: () => closing.close(DRAIN_MS) };
}

function apiDeps(deps: Deps, config: ApiConfig): ApiDeps {
  return {
    ...deps,
    plans: defaultPlans,
    rates: createRates({
      ...deps,
      failedAuthenticationsPerMinute: config.rateFailedAuthentications,
      writesPerMinute: config.rateWrites,
    }),
    sealing: createSealing(config.keyEncryptionKeys),
    identity: createIdentity({
      issuer: config.identityIssuer,
      jwksUrl: config.identityJwksUrl,
      audience: config.identityAudience,
      clock: deps.clock,
    }),
    staff: { is_enabled: config.staffApi === 'enabled', subjects: config.staffSubjects },
    requestSigningSecret: config.requestSigningSecret,
    storageEventSecret: config.storageEventSecret,
    cursorKey: deriveKey(firstKey(config.tokenKeys), 'cur1'),
    addresses: {
      baseUrl: config.baseUrl,
      uploadBaseUrl: config.uploadBaseUrl ?? config.baseUrl,
      uploadUrlKeys: config.tokenKeys.map(({ key }) => deriveKey(key, 'upl1')),
      proxyMaxBytes: config.proxyMaxBytes,
    },
    settings: {
      deliveryRootDomain: config.deliveryRootDomain,
      deliveryScheme: config.deliveryScheme,
      deliveryPublicPort: config.deliveryPublicPort,
      ingestMaxBytes: config.ingestMaxBytes,
      svgUploads: config.svgUploads,
      avifUploads: config.avifUploads,
      mediaLibraryWrites: config.mediaLibraryWrites,
      callbackEgress: config.callbackEgress,
      trustedProxies: config.trustedProxies,
      dashboardOrigins: config.dashboardOrigins,
    },
  };
}

function firstKey(keys: ApiConfig['tokenKeys']): Uint8Array {
  const [first] = keys;
  if (first === undefined) throw new Error('a configuration without token keys');
  return first.key;
}
