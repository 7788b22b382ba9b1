/**
 * The one place per worker for uploads that timed out before: each may occupy a slot as long again, and several of
 * them, from different projects, would occupy all slots.
 */
import type { Claim } from '../../db/claim-upload.ts';

export type SlowUploadSlot = {
  /** Taken before the claim; a caller who finds it taken claims only among the other uploads. */
  acquire(): { among: NonNullable<Claim['among']>; release(): void };
};

export function createSlowUploadSlot(): SlowUploadSlot {
  const state = { isTaken: false };
  return {
    acquire: () => {
      if (state.isTaken) return { among: 'quick', release: () => undefined };
      state.isTaken = true;
      let isMine = true;
      return {
        among: 'all',
        release: () => {
          if (isMine) state.isTaken = false;
          isMine = false;
        },
      };
    },
  };
}
