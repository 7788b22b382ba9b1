/**
 * The time of a controller: a wall clock for what others read, a monotonic one for what it measures itself, and timers.
 * Handed to everything here, so that a test decides how time passes.
 */
import type { Clock } from '../../runtime/platform/clock.ts';

export type TimedClock = Clock & {
  /** Milliseconds that only grow, whatever is done to the wall clock. */
  elapsed(): number;
  /** Runs once after so many milliseconds; the answer cancels it. */
  after(ms: number, run: () => void): Cancel;
};

export type Cancel = () => void;

// Longer waits would overflow into none at all.
const TIMER_MS_MAX = 2 ** 31 - 1;

export const systemTimedClock: TimedClock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },
};

/** Resolves after the time, or at once when the signal says stop. */
export function sleep(clock: TimedClock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(ms, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** Resolves when the signal says stop. */
export function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
