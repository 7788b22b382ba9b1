/** Limits the rate of calls to an API: a token bucket that refills steadily, as the CDNs themselves count. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, steady } from '../clock.ts';

export type Pace = {
  /** How many calls may follow one another without a pause. */
  burst: number;
  per_minute: number;
};

export type Turns = {
  /** Resolves when the next call may be sent. */
  next(signal: AbortSignal): Promise<void>;
};

export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

const wait: Wait = (ms, signal) => sleep(ms, undefined, { signal });

export function createTurns(pace: Pace, of: { clock: Clock; wait?: Wait }): Turns {
  const msPerTurn = 60_000 / pace.per_minute;
  const clock = steady(of.clock);
  const now = () => clock.now().getTime();
  // When the bucket will be full again; each turn postpones it by the time that one turn takes to
  // refill.
  let fullAt = Number.NEGATIVE_INFINITY;
  return {
    next: async (signal) => {
      fullAt = Math.max(fullAt, now()) + msPerTurn;
      const early = fullAt - now() - pace.burst * msPerTurn;
      if (early > 0) await (of.wait ?? wait)(early, signal);
    },
  };
}
