/** Caches pages at their first request; a failed read is retried at the next request. */
import type { Page } from './page.ts';

export function cachedPages<Key>(read: (key: Key) => Promise<Page>): (key: Key) => Promise<Page> {
  const cache = new Map<Key, Promise<Page>>();
  return (key) => {
    const cached = cache.get(key);
    if (cached !== undefined) return cached;
    const reading = read(key);
    cache.set(key, reading);
    reading.catch(() => cache.delete(key));
    return reading;
  };
}
