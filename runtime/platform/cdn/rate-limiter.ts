/** Limits the rate of calls to an API: a token bucket that refills steadily, as the CDNs themselves count. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, steady } from '../clock.ts';

export type RateLimit = {
  /** How many calls may follow one another without a pause. */
  burst: number;
  per_minute: number;
};

export type RateLimiter = {
  /** Resolves when the next call may be sent. */
  acquire(signal: AbortSignal): Promise<void>;
};

export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

const wait: Wait = (ms, signal) => sleep(ms, undefined, { signal });

export function createRateLimiter(rate: RateLimit, of: { clock: Clock; wait?: Wait }): RateLimiter {
  const msPerCall = 60_000 / rate.per_minute;
  const clock = steady(of.clock);
  const now = () => clock.now().getTime();
  // When the bucket will be full again; each call postpones it by the time that one call takes to
  // refill.
  let fullAt = Number.NEGATIVE_INFINITY;
  return {
    acquire: async (signal) => {
      fullAt = Math.max(fullAt, now()) + msPerCall;
      const early = fullAt - now() - rate.burst * msPerCall;
      if (early > 0) await (of.wait ?? wait)(early, signal);
    },
  };
}
