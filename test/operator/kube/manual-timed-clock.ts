/** A clock that advances only when a test moves it. Timers run in the order in which they are due. */
import type { TimedClock } from '../../../operator/kube/timed-clock.ts';

export type ManualTimedClock = TimedClock & { advance(ms: number): void; timers(): number };

type Timer = { due: number; run: () => void };

export function createManualTimedClock(): ManualTimedClock {
  let elapsed = 0;
  const timers = new Set<Timer>();
  const next = (until: number) =>
    [...timers].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
  return {
    now: () => new Date(elapsed),
    elapsed: () => elapsed,
    after: (ms, run) => {
      const timer = { due: elapsed + Math.max(ms, 0), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: (ms) => {
      const until = elapsed + ms;
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        timers.delete(timer);
        elapsed = Math.max(elapsed, timer.due);
        timer.run();
      }
      elapsed = until;
    },
    timers: () => timers.size,
  };
}
