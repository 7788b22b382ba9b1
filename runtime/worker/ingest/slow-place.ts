/**
 * The one place per worker for uploads that timed out before: each may occupy a slot as long again, and several of
 * them, from different projects, would occupy all slots.
 */
import type { Claim } from '../../db/claim-upload.ts';

export type SlowPlace = {
  /** Taken before the claim; a caller who finds it taken claims only among the other uploads. */
  enter(): { among: NonNullable<Claim['among']>; leave(): void };
};

export function createSlowPlace(): SlowPlace {
  const state = { isTaken: false };
  return {
    enter: () => {
      if (state.isTaken) return { among: 'quick', leave: () => undefined };
      state.isTaken = true;
      let isMine = true;
      return {
        among: 'all',
        leave: () => {
          if (isMine) state.isTaken = false;
          isMine = false;
        },
      };
    },
  };
}
