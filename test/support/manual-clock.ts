/** A clock that only the test advances. It starts at the real time, to match the timestamps of rows. */
import type { Clock } from '../../runtime/platform/clock.ts';

export type ManualClock = Clock & { advance(seconds: number): void };

export function createManualClock(): ManualClock {
  let at = Date.now();
  return {
    now: () => new Date(at),
    advance: (seconds) => {
      at += seconds * 1000;
    },
  };
}
