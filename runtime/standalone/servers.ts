/** The two ports of a standalone: the API with folder storage and the identity provider, and delivery. */
import type { Deps } from '../actions/open-deps.ts';
import { startApi } from '../api/serve.ts';
import { startDelivery } from '../delivery/serve.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import { createSealing } from '../platform/sealing.ts';
import { ownOrigin, type Ports, type StandaloneConfig } from './environment.ts';
import { createIdentityProvider } from './identity-provider.ts';
import type { Storage } from './storage.ts';

type ServerOptions = {
  config: StandaloneConfig;
  lifecycle: Lifecycle;
  ports: Ports;
  dataFolder: string;
  storage: Storage;
};

/**
 * No load balancer needs time to move traffic, and a person who presses Ctrl-C wants the process to
 * end.
 */
const QUIET_MS = 100;
const DRAIN_MS = 12_000;

/**
 * Short, because a person who saves a document or uploads a file checks the result at once, and the
 * database is local.
 */
const LOOKUPS_FRESH_SECONDS = 1;

export async function startServers(deps: Deps, options: ServerOptions): Promise<void> {
  await startDeliveryHosts(deps, options);
  await startApiBeside(deps, options);
}

async function startApiBeside(
  deps: Deps,
  { config, lifecycle, ports, dataFolder, storage }: ServerOptions,
): Promise<void> {
  const provider = await createIdentityProvider({
    dataDir: dataFolder,
    baseUrl: ownOrigin(ports),
    clock: deps.clock,
  });
  const api = startApi(deps, {
    config,
    sharedHandlers: [storage.handle, provider.handle],
    quiet_ms: QUIET_MS,
    drain_ms: DRAIN_MS,
  });
  await ports.api.serve(api.server);
  lifecycle.onStop('api', api.stop);
}

async function startDeliveryHosts(
  deps: Deps,
  { config, lifecycle, ports }: ServerOptions,
): Promise<void> {
  const { server, stop } = startDelivery({
    ...deps,
    sealing: createSealing(config.keyEncryptionKeys),
    content: deps.buckets.content,
    baseUrl: config.baseUrl,
    rootDomain: config.deliveryRootDomain,
    fresh_seconds: LOOKUPS_FRESH_SECONDS,
    spool_folder: config.spoolDir,
    quiet_ms: QUIET_MS,
    drain_ms: DRAIN_MS,
  });
  lifecycle.onStop('delivery', stop);
  await ports.delivery.serve(server);
}
