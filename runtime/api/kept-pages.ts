/** Caches pages at their first request; a failed read is retried at the next request. */
import type { Page } from './page.ts';

export function keptPages<Key>(read: (key: Key) => Promise<Page>): (key: Key) => Promise<Page> {
  const kept = new Map<Key, Promise<Page>>();
  return (key) => {
    const known = kept.get(key);
    if (known !== undefined) return known;
    const reading = read(key);
    kept.set(key, reading);
    reading.catch(() => kept.delete(key));
    return reading;
  };
}
