/**
 * The trails that doorbells brought, by upload: a doorbell says that there is work and the database whose turn it is, so
 * that an attempt may be at another upload than the doorbell that began it.
 */
import { LRUCache } from 'lru-cache';
import { type Carried, carry, goOn } from '../../platform/trail.ts';

export type DoorbellTrails = {
  /** Notes where the work came from that goes on just now. */
  note(doorbell: unknown): void;
  /** Works on an upload where its own doorbell came from; heard elsewhere or never, from a new beginning. */
  follow<T>(upload_id: string, work: () => Promise<T>): Promise<T>;
};

const DOORBELLS_MAX = 10_000;

export function createDoorbellTrails(): DoorbellTrails {
  const trails = new LRUCache<string, Carried>({ max: DOORBELLS_MAX });
  return {
    note: (doorbell) => {
      const { upload_id } = (doorbell ?? {}) as { upload_id?: unknown };
      if (typeof upload_id === 'string') trails.set(upload_id, carry());
    },
    // It stays for further attempts.
    follow: (upload_id, work) => goOn(trails.get(upload_id), work),
  };
}
