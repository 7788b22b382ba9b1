/** For how long the API server has been answering this process, whatever it says. */
import type { TimedClock } from './timed-clock.ts';

export type Answers = {
  /** An answer came. */
  take(): void;
  /** Without a break until now; 0 while it is away. */
  steady_ms(): number;
};

/** A leader and a candidate ask every two seconds. */
const BREAK_MS = 60_000;

export function createAnswers(clock: Pick<TimedClock, 'elapsed'>): Answers {
  let first = -Infinity;
  let last = -Infinity;
  return {
    take: () => {
      const now = clock.elapsed();
      if (now - last > BREAK_MS) first = now;
      last = now;
    },
    steady_ms: () => (clock.elapsed() - last > BREAK_MS ? 0 : last - first),
  };
}
