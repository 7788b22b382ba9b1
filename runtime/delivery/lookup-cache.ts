/**
 * Caches lookups, including absences, as fresh for at most 30 s. While the database does not answer, cached values are
 * served for up to 5 minutes, and for 30 s after a failure without waiting for the database. Parallel lookups of one
 * key share one query. Spec: Caching and response headers.
 */
import { LRUCache } from 'lru-cache';
import { LOOKUP_CACHE_SECONDS_MAX, LOOKUP_STALE_SECONDS_MAX } from '../core/limits.ts';
import { type Clock, steady } from '../platform/clock.ts';

export type LookupCache<Value> = {
  find(key: string): Promise<Value | undefined>;
  /** Queries again regardless of the cache; throws when the database does not answer. */
  reload(key: string): Promise<Value | undefined>;
};

/** When the database last did not answer, for all caches that ask it. */
export type Outage = { failed_at: number };

/** `asked_at` is when the query began: its result is at least as new. */
type Entry<Value> = { value: Value | undefined; asked_at: number; retry_at: number };

const ENTRIES_MAX = 20_000;
const OUTAGE_RETRY_MS = 2_000;
/**
 * How long a failure counts as an outage. It equals the freshness of a lookup, so that a later
 * change is not hidden for longer than usual.
 */
const AWAY_MS = LOOKUP_CACHE_SECONDS_MAX * 1000;

export function createLookupCache<Value>(options: {
  clock: Clock;
  /** How long an entry is fresh; at most LOOKUP_CACHE_SECONDS_MAX, which is also the default. */
  fresh_seconds?: number | undefined;
  /** Shared by the caches of one database, so that a viewer waits for it once. */
  outage: Outage;
  load(key: string): Promise<Value | undefined>;
}): LookupCache<Value> {
  const { fresh_seconds = LOOKUP_CACHE_SECONDS_MAX, outage } = options;
  const clock = steady(options.clock);
  const now = () => clock.now().getTime();
  const entries = new LRUCache<string, Entry<Value>>({ max: ENTRIES_MAX });
  const flights = new Map<string, Promise<Value | undefined>>();
  const isAway = () => now() - outage.failed_at < AWAY_MS;

  const load = async (key: string) => {
    const asked_at = now();
    try {
      const value = await options.load(key);
      Object.assign(outage, noOutage());
      const isNewest = asked_at >= (entries.peek(key)?.asked_at ?? 0);
      if (isNewest) entries.set(key, { value, asked_at, retry_at: 0 });
      return value;
    } catch (error) {
      outage.failed_at = now();
      const known = entries.peek(key);
      if (known !== undefined) entries.set(key, { ...known, retry_at: now() + OUTAGE_RETRY_MS });
      throw error;
    }
  };
  const start = (key: string) => {
    const flight = load(key).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    flights.set(key, flight);
    return flight;
  };

  return {
    find: async (key) => {
      const known = entries.get(key);
      const age = now() - (known?.asked_at ?? Number.NEGATIVE_INFINITY);
      if (known !== undefined && age < fresh_seconds * 1000) return known.value;
      if (known === undefined || age > LOOKUP_STALE_SECONDS_MAX * 1000) {
        return flights.get(key) ?? start(key);
      }
      if (now() < known.retry_at) return known.value;
      const refreshed = (flights.get(key) ?? start(key)).catch(() => known.value);
      return isAway() ? known.value : refreshed;
    },
    reload: start,
  };
}

export function noOutage(): Outage {
  return { failed_at: Number.NEGATIVE_INFINITY };
}
