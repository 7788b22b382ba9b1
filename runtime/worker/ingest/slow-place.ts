/**
 * The one place that a worker has for uploads which ran out of time before: they may hold a slot as long again, and
 * several of them, of different projects, would hold all of its slots.
 */
import type { Claim } from '../../db/claim-upload.ts';

export type SlowPlace = {
  /** Taken before it is known what will be claimed; whoever finds it taken claims among the others. */
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
