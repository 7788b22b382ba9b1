/**
 * The traces of doorbells, by upload. A doorbell announces work but the database decides whose turn it is, so an
 * attempt may concern an upload other than that of the doorbell that started it.
 */
import { LRUCache } from 'lru-cache';
import { type Carried, carry, goOn } from '../../platform/trail.ts';

export type DoorbellTrails = {
  /** Records the current trail as the origin of the doorbell's upload. */
  note(doorbell: unknown): void;
  /**
   * Runs the work in the trail of the upload's own doorbell, or in a new trail when that was not
   * heard here.
   */
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
    // The trail stays for further attempts.
    follow: (upload_id, work) => goOn(trails.get(upload_id), work),
  };
}
