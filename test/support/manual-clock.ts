/** A clock that the test moves; it starts at the real time, so that rows made by the database fit it. */
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
