/**
 * Remembers what was looked up, absences too. Fresh for 30 s; while the database does not answer, what is
 * known serves on for a while. Parallel look-ups of one key are one query. Spec: Caching and response headers.
 */
import { LRUCache } from 'lru-cache';
import { LOOKUP_CACHE_SECONDS_MAX, LOOKUP_STALE_SECONDS_MAX } from '../core/limits.ts';
import type { Clock } from '../platform/clock.ts';

export type LookupCache<Value> = {
  find(key: string): Promise<Value | undefined>;
  /** Asks again, whatever is remembered. */
  reload(key: string): Promise<Value | undefined>;
};

type Entry<Value> = { value: Value | undefined; loaded_at: number };

const ENTRIES_MAX = 20_000;
const OUTAGE_RETRY_MS = 2_000;

export function createLookupCache<Value>(options: {
  clock: Clock;
  load(key: string): Promise<Value | undefined>;
}): LookupCache<Value> {
  const now = () => options.clock.now().getTime();
  const cache = new LRUCache<string, Entry<Value>>({
    max: ENTRIES_MAX,
    ttl: LOOKUP_CACHE_SECONDS_MAX * 1000,
    ttlResolution: 0,
    perf: { now },
    noDeleteOnStaleGet: true,
    fetchMethod: async (key, known, { options: storing }) => {
      try {
        return { value: await options.load(key), loaded_at: now() };
      } catch (error) {
        const isUsable = known && now() - known.loaded_at <= LOOKUP_STALE_SECONDS_MAX * 1000;
        if (!isUsable) throw error;
        storing.ttl = OUTAGE_RETRY_MS;
        return known;
      }
    },
  });
  return {
    find: async (key) => (await cache.fetch(key))?.value,
    reload: async (key) => (await cache.fetch(key, { forceRefresh: true }))?.value,
  };
}
