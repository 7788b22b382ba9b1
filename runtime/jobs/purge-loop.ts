/**
 * Sends purges within a second of their time, while its process runs; the job of the same queue heals what a process
 * left. Several loops on one database share the work. Spec: Caching and response headers.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Metrics } from '../platform/metrics.ts';
import { onTrail } from '../platform/trail.ts';
import { type PurgeContext, purgeQueue } from './purge-queue.ts';

export type PurgeLoop = {
  /** Claims nothing more, ends the calls under way, and waits for that. */
  stop(): Promise<void>;
};

export type PurgeLoopDeps = Omit<PurgeContext, 'signal'> & { metrics: Pick<Metrics, 'purges'> };

const PAUSE_MS = 1000;
/** While the database does not answer. */
const PAUSE_MS_MAX = 15_000;

export function startPurgeLoop(
  deps: PurgeLoopDeps,
  { pause_ms = PAUSE_MS }: { pause_ms?: number } = {},
): PurgeLoop {
  const ending = new AbortController();
  const running = run(deps, { pause_ms, signal: ending.signal });
  return {
    stop: async () => {
      ending.abort(new Error('the process ends'));
      await running;
    },
  };
}

async function run(
  deps: PurgeLoopDeps,
  { pause_ms, signal }: { pause_ms: number; signal: AbortSignal },
): Promise<void> {
  let pause = pause_ms;
  while (!signal.aborted) {
    try {
      const look = () => purgeQueue({ ...deps, signal });
      deps.metrics.purges(await onTrail({ request_id: randomUUID() }, look));
      pause = pause_ms;
    } catch (error) {
      if (signal.aborted) return;
      deps.log.warn('the purge queue was not looked at', { error });
      pause = Math.min(pause * 2, PAUSE_MS_MAX);
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined);
  }
}
