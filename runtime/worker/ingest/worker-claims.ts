/**
 * What a worker may claim beside the uploads that it has in hand. Uploads that timed out before have one place per
 * worker: each may occupy a slot as long again, and several of them, from different projects, would occupy all slots.
 * An upload whose attempt was lost with its worker gets a worker to itself: if the picture kills workers, it takes no
 * other upload with it.
 */
import { claimUpload, claimUploadBeside, wasLost } from '../../db/claim-upload.ts';
import type { Queryable } from '../../db/client.ts';
import type { UploadRow } from '../../db/uploads.ts';

export type WorkerClaims = {
  /**
   * Claims the upload with this id, or with null the next one. `reserved`: the worker is kept for a
   * single upload, which is in hand, or waits until nothing else is. Undefined: there is none.
   */
  claim(db: Queryable, wanted: Wanted): Promise<UploadRow | 'reserved' | undefined>;
  /** The upload is no longer in hand. */
  end(upload: UploadRow): void;
  /** Whether the last claim, or the upload in hand, was `reserved`. */
  isReserved(): boolean;
};

type Wanted = { upload_id: string | null; lease_seconds: number };

export function createWorkerClaims(): WorkerClaims {
  const inHand = new Set<UploadRow>();
  const state = { isOneWaiting: false, last: Promise.resolve<unknown>(undefined) };
  const isAlone = () => [...inHand].some(wasLost);
  const claimNow = async (db: Queryable, wanted: Wanted) => {
    if (isAlone()) return 'reserved';
    const among = [...inHand].some(({ timeout_count }) => timeout_count > 0) ? 'quick' : 'all';
    const send = inHand.size === 0 ? claimUpload : claimUploadBeside;
    const claimed = await send(db, { ...wanted, among });
    state.isOneWaiting = claimed === 'reserved';
    if (claimed !== undefined && claimed !== 'reserved') inHand.add(claimed);
    return claimed;
  };
  return {
    // One after the other, because what one claims decides what the next may.
    claim: (db, wanted) => {
      const claiming = state.last.then(() => claimNow(db, wanted));
      state.last = claiming.catch(() => undefined);
      return claiming;
    },
    end: (upload) => void inHand.delete(upload),
    isReserved: () => state.isOneWaiting || isAlone(),
  };
}
