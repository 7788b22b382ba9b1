// Setting the clock back while a process runs does not lengthen any time that the process measures.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMinuteRate } from '../../runtime/api/rates/minute-rate.ts';
import { DAY_MS } from '../../runtime/core/durations.ts';
import {
  FAILED_RENDER_REMEMBERED_SECONDS,
  LOOKUP_CACHE_SECONDS_MAX,
} from '../../runtime/core/limits.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import { createFailureMemory } from '../../runtime/delivery/failure-memory.ts';
import { cacheSecondsMax, databaseTime } from '../../runtime/delivery/lookup.ts';
import { createLookupCache, noOutage } from '../../runtime/delivery/lookup-cache.ts';
import { createBreaker } from '../../runtime/platform/breaker.ts';
import { createRateLimiter } from '../../runtime/platform/cdn/rate-limiter.ts';
import { systemClock as clock, steady } from '../../runtime/platform/clock.ts';
import { createKeySet } from '../../runtime/platform/key-set.ts';
import { createLog } from '../../runtime/platform/log.ts';

beforeEach(() => {
  // The machine's real uptime is read now, so that little of it passes while the test moves the clocks.
  steady(clock).now();
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

/** Sets the clock back by two days and lets it run on. */
function setBackAnd(seconds: number): void {
  vi.setSystemTime(Date.now() - 2 * DAY_MS);
  vi.advanceTimersByTime(seconds * 1000);
}

describe('a clock that is set back by two days', () => {
  it('moves the wall clock, but not the steady clock', () => {
    const [wallTime, measured] = [clock.now(), steady(clock).now()];
    setBackAnd(10);
    expect(clock.now().getTime() - wallTime.getTime()).toBe(10_000 - 2 * DAY_MS);
    expect(steady(clock).now().getTime() - measured.getTime()).toBe(10_000);
  });

  it('does not keep cached lookups fresh: a file blocked meanwhile is not served', async () => {
    const answers = ['ready', 'blocked'];
    const cache = createLookupCache({
      clock,
      outage: noOutage(),
      load: async () => answers.shift(),
    });
    expect(await cache.find('a')).toBe('ready');
    setBackAnd(LOOKUP_CACHE_SECONDS_MAX + 1);
    expect(await cache.find('a')).toBe('blocked');
  });

  it('changes neither how long lookups may be cached nor the estimated time of the database', () => {
    const asked_at = steady(clock).now().getTime();
    const before = databaseTime(clock, { database_lead_ms: 500 });
    setBackAnd(100);
    expect(cacheSecondsMax(clock, { asked_at })).toBe(200);
    expect(databaseTime(clock, { database_lead_ms: 500 }) - before).toBe(100_000);
  });

  it('does not delay retries of failed renders or the closing of a circuit breaker', () => {
    const memory = createFailureMemory(clock);
    memory.remember('a', new Error('failed'));
    setBackAnd(FAILED_RENDER_REMEMBERED_SECONDS + 1);
    expect(() => memory.check('a')).not.toThrow();
    const breaker = createBreaker(clock, { failures: 1, pause_ms: 30_000 });
    breaker.failed();
    setBackAnd(31);
    expect(breaker.isOpen()).toBe(false);
  });

  it('does not hold purges up', async () => {
    const waits: number[] = [];
    const wait = async (ms: number) => void waits.push(ms);
    const turns = createRateLimiter({ burst: 1, per_minute: 60 }, { clock, wait });
    const { signal } = new AbortController();
    await turns.acquire(signal);
    setBackAnd(2);
    await turns.acquire(signal);
    expect(waits).toEqual([]);
  });

  it('does not delay fetching identity keys, or the end of a rate-limited minute', async () => {
    const answers = [new Response('', { status: 500 }), Response.json(['key'])];
    const keys = createKeySet({
      url: 'https://identity.example/keys',
      clock,
      fetch: async () => answers.shift() ?? Response.error(),
      parse: (document) => document,
    });
    expect(await keys.current()).toBeUndefined();
    setBackAnd(6);
    expect(await keys.current()).toEqual(['key']);

    const away = async () => {
      throw new Error('the database is away');
    };
    const db = { query: away } as unknown as Queryable;
    const log = createLog({ level: 'silent', name: 'test' });
    const rate = createMinuteRate({ db, clock, log, scope: 'write', limit: 1 });
    await rate.take('a');
    await expect(rate.take('a')).rejects.toMatchObject({ code: 'rate_limited' });
    expect(rate.isSpent('a')).toBe(true);
    setBackAnd(61);
    expect(rate.isSpent('a')).toBe(false);
  });
});
