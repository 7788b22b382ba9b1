/** Waits for watch caches when a process starts, but not for ever: one that may not list must not stop the others. */
import { sleep, type TimedClock } from './timed-clock.ts';

const SYNC_MS_MAX = 30_000;

type Waiting = { clock: TimedClock; signal: AbortSignal };

/** Resolves when all have listed once, after half a minute, or at the signal. */
export function syncedInTime(
  caches: readonly { synced: Promise<void> }[],
  { clock, signal }: Waiting,
): Promise<unknown> {
  const all = Promise.all(caches.map(({ synced }) => synced));
  return Promise.race([all, sleep(clock, SYNC_MS_MAX, signal)]);
}
