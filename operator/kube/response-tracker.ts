/** For how long the API server has been answering this process, whatever the answers say. */
import type { TimedClock } from './timed-clock.ts';

export type ResponseTracker = {
  /** Records an answer. */
  record(): void;
  /** The time without an interruption until now; 0 while the API server is down. */
  steady_ms(): number;
};

/** Longer than the two seconds between the requests of a leader or candidate. */
const BREAK_MS = 60_000;

export function createResponseTracker(clock: Pick<TimedClock, 'elapsed'>): ResponseTracker {
  let first = -Infinity;
  let last = -Infinity;
  return {
    record: () => {
      const now = clock.elapsed();
      if (now - last > BREAK_MS) first = now;
      last = now;
    },
    steady_ms: () => (clock.elapsed() - last > BREAK_MS ? 0 : last - first),
  };
}
