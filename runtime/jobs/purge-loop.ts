/**
 * Sends purges within a second of their due time, while its process runs; the job of the same queue handles what a
 * killed process left. Several loops on one database share the work. Spec: Caching and response headers.
 */
import type { Metrics } from '../platform/metrics.ts';
import { type PollLoop, startPollLoop } from './poll-loop.ts';
import { type PurgeContext, purgeQueue } from './purge-queue.ts';

export type PurgeLoopDeps = Omit<PurgeContext, 'signal'> & { metrics: Pick<Metrics, 'purges'> };

const PAUSE_MS = 1000;

export function startPurgeLoop(
  deps: PurgeLoopDeps,
  { pause_ms = PAUSE_MS }: { pause_ms?: number } = {},
): PollLoop {
  return startPollLoop({
    log: deps.log,
    says: 'the purge queue could not be processed',
    poll: async (signal) => deps.metrics.purges(await purgeQueue({ ...deps, signal })),
    pause_ms,
  });
}
