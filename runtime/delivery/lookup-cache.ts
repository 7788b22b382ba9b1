/**
 * Remembers what was looked up, absences too: fresh for 30 s, or for less. While the database does not answer, what is
 * known serves on for 5 minutes, and nobody waits for it twice in 30 s. Parallel look-ups of one key are one query.
 * Spec: Caching and response headers.
 */
import { LRUCache } from 'lru-cache';
import { LOOKUP_CACHE_SECONDS_MAX, LOOKUP_STALE_SECONDS_MAX } from '../core/limits.ts';
import { type Clock, steady } from '../platform/clock.ts';

export type LookupCache<Value> = {
  find(key: string): Promise<Value | undefined>;
  /** Asks again, whatever is remembered; throws where the database does not answer. */
  reload(key: string): Promise<Value | undefined>;
};

/** `asked_at` is when the query began: what it saw is at least as new. */
type Entry<Value> = { value: Value | undefined; asked_at: number; retry_at: number };

const ENTRIES_MAX = 20_000;
const OUTAGE_RETRY_MS = 2_000;
/** After a failure; what was changed since it may be served for as long as a lookup is fresh, and not longer. */
const AWAY_MS = LOOKUP_CACHE_SECONDS_MAX * 1000;

export function createLookupCache<Value>(options: {
  clock: Clock;
  /** How long it is fresh, at most LOOKUP_CACHE_SECONDS_MAX, which it is without. */
  fresh_seconds?: number | undefined;
  load(key: string): Promise<Value | undefined>;
}): LookupCache<Value> {
  const { fresh_seconds = LOOKUP_CACHE_SECONDS_MAX } = options;
  const clock = steady(options.clock);
  const now = () => clock.now().getTime();
  const entries = new LRUCache<string, Entry<Value>>({ max: ENTRIES_MAX });
  const flights = new Map<string, Promise<Value | undefined>>();
  let failed_at = Number.NEGATIVE_INFINITY;
  const isAway = () => now() - failed_at < AWAY_MS;

  const load = async (key: string) => {
    const asked_at = now();
    try {
      const value = await options.load(key);
      failed_at = Number.NEGATIVE_INFINITY;
      const isNewest = asked_at >= (entries.peek(key)?.asked_at ?? 0);
      if (isNewest) entries.set(key, { value, asked_at, retry_at: 0 });
      return value;
    } catch (error) {
      failed_at = now();
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
