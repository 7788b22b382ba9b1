/**
 * Records which derived images are read, so that images still in use stay in the store. Viewers never wait for this:
 * each key is noted in memory once a day, and the notes are written in batches. Spec: Delivery host.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Queryable } from '../db/client.ts';
import { upsertDerivedReads } from '../db/derived-reads.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';

export type DerivedReads = {
  note(derivedKey: string): void;
  /**
   * Writes the noted keys; keys that the database does not accept now are written by the next
   * flush.
   */
  flush(): Promise<void>;
  stop(): Promise<void>;
};

const FLUSH_MS = 60_000;
const BATCH_MAX = 1000;
/** Beyond this number a read is not noted; the image's next read will be. */
const PENDING_MAX = 20_000;
const REMEMBERED_MAX = 200_000;

export function startDerivedReads(deps: { db: Queryable; clock: Clock; log: Log }): DerivedReads {
  // Bounded by `maxSize`, because `max` would allocate room for all entries up front.
  const days = new LRUCache<string, string>({ maxSize: REMEMBERED_MAX, sizeCalculation: () => 1 });
  const pending = new Set<string>();
  const ending = new AbortController();
  const today = () => deps.clock.now().toISOString().slice(0, 10);
  const flush = async () => {
    try {
      while (pending.size > 0) await writeBatch(deps.db, pending);
    } catch (error) {
      deps.log.warn('reads of derived images were not recorded; retrying', { error });
    }
  };
  const loop = (async () => {
    while (!ending.signal.aborted) {
      await sleep(FLUSH_MS, undefined, { signal: ending.signal }).catch(() => undefined);
      await flush();
    }
  })();
  return {
    note: (key) => {
      const day = today();
      if (days.get(key) === day || pending.size >= PENDING_MAX) return;
      days.set(key, day);
      pending.add(key);
    },
    flush,
    stop: async () => {
      ending.abort();
      await loop;
    },
  };
}

async function writeBatch(db: Queryable, pending: Set<string>): Promise<void> {
  const keys = [...pending].slice(0, BATCH_MAX);
  await upsertDerivedReads(db, keys);
  for (const key of keys) pending.delete(key);
}
