/** The two ports of a standalone: the API with folder storage and the identity provider beside it, and delivery. */
import { createApi } from '../api/app.ts';
import type { ApiDeps } from '../api/deps.ts';
import { createApiServer } from '../api/server.ts';
import type { Plans } from '../core/plans.ts';
import { deriveKey } from '../core/signing/hmac.ts';
import type { Database } from '../db/client.ts';
import { startDelivery } from '../delivery/serve.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import { prepareToClose } from '../platform/http/close-server.ts';
import { createIdentity } from '../platform/identity.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Sealing } from '../platform/sealing.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import type { StandaloneConfig } from './environment.ts';
import { createIdentityProvider } from './identity-provider.ts';
import { listen } from './listen.ts';
import type { Storage } from './storage.ts';

export type ServerDeps = {
  db: Database;
  buckets: Buckets;
  queue: Queue;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  sealing: Sealing;
  plans: Plans;
  storage: Storage;
  failpoint?: Failpoint;
};

type ServerOptions = { config: StandaloneConfig; lifecycle: Lifecycle; dataFolder: string };

export async function startServers(deps: ServerDeps, options: ServerOptions): Promise<void> {
  await startDeliveryHosts(deps, options);
  await startApi(deps, options);
}

async function startApi(
  deps: ServerDeps,
  { config, lifecycle, dataFolder }: ServerOptions,
): Promise<void> {
  const { clock } = deps;
  const provider = await createIdentityProvider({
    dataDir: dataFolder,
    baseUrl: config.baseUrl,
    clock,
  });
  const api = createApi(apiDeps(deps, config));
  const server = createApiServer((request, response) => {
    if (deps.storage.handle(request, response) || provider.handle(request, response)) return;
    api(request, response);
  });
  const closing = prepareToClose(server);
  await listen(server, { port: config.apiPort, option: '--api-port' });
  lifecycle.onStop('api', () => closing.close(DRAIN_MS));
}

function apiDeps(deps: ServerDeps, config: StandaloneConfig): ApiDeps {
  return {
    ...deps,
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
    },
  };
}

function firstKey(keys: StandaloneConfig['tokenKeys']): Uint8Array {
  const [first] = keys;
  if (first === undefined) throw new Error('a configuration without token keys');
  return first.key;
}

/** How long answers under way may take at the end. */
const DRAIN_MS = 12_000;
const DERIVED_MEMORY_BYTES = 64 * 1024 * 1024;

async function startDeliveryHosts(
  deps: ServerDeps,
  { config, lifecycle }: ServerOptions,
): Promise<void> {
  const { server, stop } = startDelivery({
    ...deps,
    content: deps.buckets.content,
    rootDomain: config.deliveryRootDomain,
    spool_folder: config.spoolDir,
    memory_bytes: DERIVED_MEMORY_BYTES,
  });
  lifecycle.onStop('delivery', stop);
  await listen(server, { port: config.deliveryPort, option: '--delivery-port' });
}
