/** The operator's endpoints for probes and metrics. A standby is ready too, as it could lead now. */
import type { OpenDatabase } from '../runtime/db/client.ts';
import type { Config } from '../runtime/platform/config.ts';
import { startHealthServer } from '../runtime/platform/http/health-server.ts';
import type { Lifecycle } from '../runtime/platform/lifecycle.ts';
import type { Log } from '../runtime/platform/log.ts';
import { createMetrics } from '../runtime/platform/metrics.ts';
import type { CacheHealth } from './kube/cache-health.ts';
import type { KubeClient } from './kube/client.ts';
import type { KubeMetrics } from './kube/metrics.ts';
import { findStuck } from './liveness.ts';

/** Read at each request. */
export type Watched = {
  /** Everything that has caches. */
  caches: { health(): CacheHealth[] }[];
  /** For how long the work of an ended term has been going on. */
  overdue_ms: () => number;
};

type Deps = {
  config: Pick<Config, 'metricsPort'>;
  log: Log;
  lifecycle: Lifecycle;
  db: OpenDatabase;
  client: Pick<KubeClient, 'answering_ms'>;
  metrics: KubeMetrics;
};

/** Returns the port, if there is one. */
export async function startHealthEndpoints(
  watched: Watched,
  { config: { metricsPort: port }, log, lifecycle, db, client, metrics }: Deps,
): Promise<number | undefined> {
  if (port === undefined) return undefined;
  const own = createMetrics();
  own.registerSources({ pool: () => db.pool() });
  const print = async () => {
    const { text, ...printed } = await own.print();
    return { ...printed, text: `${text}\n${await metrics.print()}` };
  };
  const health = () => watched.caches.flatMap((each) => each.health());
  const probes = {
    database: () => db.query('select 1'),
    cluster: async () => proveCurrent(health()),
  };
  const server = await startHealthServer({
    ...{ port, log, probes: () => probes, metrics: { ...own, print } },
    findStuck: () =>
      findStuck({
        caches: health(),
        answering_ms: client.answering_ms(),
        longest_pass_ms: metrics.longestRunningSeconds() * 1000,
        overdue_ms: watched.overdue_ms(),
      }),
  });
  lifecycle.onStop('health', server.stop);
  return server.port;
}

function proveCurrent(caches: readonly CacheHealth[]): void {
  const isCurrent = caches.every(({ isSynced, isStale }) => isSynced && !isStale);
  if (!isCurrent) throw new Error('no recent response from the API server');
}
