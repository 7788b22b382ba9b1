/**
 * A controller's time: a wall clock for values that others read, a monotonic clock for its own measurements, and
 * timers. It is injected everywhere here, so that a test controls the time.
 */
import type { Clock } from '../../runtime/platform/clock.ts';

export type TimedClock = Clock & {
  /** Monotonic milliseconds, unaffected by changes of the wall clock. */
  elapsed(): number;
  /** Runs once after that many milliseconds; the returned function cancels it. */
  after(ms: number, run: () => void): Cancel;
};

export type Cancel = () => void;

// A longer delay would overflow and fire at once.
const TIMER_MS_MAX = 2 ** 31 - 1;

export const systemTimedClock: TimedClock = {
  now: () => new Date(),
  elapsed: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), TIMER_MS_MAX));
    return () => clearTimeout(timer);
  },
};

/** Resolves after the time, or at once when the signal is aborted. */
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

/** Resolves when the signal is aborted. */
export function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
