/** A clock that runs faster than real time: minutes of waiting pass in seconds, and timers keep their order. */
import type { TimedClock } from '../../../operator/kube/timed-clock.ts';

export function createQuickClock(times: number): TimedClock {
  const began = { wall: Date.now(), monotonic: performance.now() };
  const elapsed = () => (performance.now() - began.monotonic) * times;
  return {
    now: () => new Date(began.wall + elapsed()),
    elapsed,
    after: (ms, run) => {
      const timer = setTimeout(run, ms / times);
      return () => clearTimeout(timer);
    },
  };
}
