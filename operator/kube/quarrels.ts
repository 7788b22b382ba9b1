/**
 * Objects that somebody changes back each time after they were written. Two programs that both answer at once never end,
 * so what was just written and is undone rests before it is written again, longer each time in a row, until it has been
 * left alone for a while. It forgets with its term.
 */
import { keyOf, type Place } from './resource.ts';
import type { TimedClock } from './timed-clock.ts';

/** Whoever changes an object lets nobody wait for one that was deleted. */
export function quarrelKeys(kind: string, place: Place): { changed: string; deleted: string } {
  const key = `${kind} ${keyOf(place)}`;
  return { changed: key, deleted: `${key}, deleted` };
}

export type Quarrels = {
  /** Whether it was written like this, so that it is undone where it is not so. */
  knows(key: string, wanted: string): boolean;
  /** Of what is not as it is to be written: how it stands. */
  undone(key: string, wanted: string): Undone;
  wrote(key: string, wanted: string): void;
  /** It is as it is to be written. */
  settled(key: string): void;
  /** It is to be gone. */
  forget(key: string): void;
};

export type Undone = {
  /** Before it is written again; 0: now. */
  rest_ms: number;
  /** Whether it was changed back so often that somebody has to be told. */
  isQuarrel: boolean;
};

const REST_MS = { first: 1_000, last: 300_000 };
/** Undone so often in a row it is no accident. */
const QUARREL_TIMES = 3;
/** What was left alone for so long begins anew. */
const QUIET_MS = 600_000;

type Known = {
  wanted: string;
  written_at: number;
  /** Undefined: it is as it was written, as far as anybody saw. */
  undone_at: number | undefined;
  /** How often in a row it was undone. */
  times: number;
};

export function createQuarrels({ elapsed }: Pick<TimedClock, 'elapsed'>): Quarrels {
  const all = new Map<string, Known>();
  const find = (key: string, wanted: string) => {
    const known = all.get(key);
    return known?.wanted === wanted ? known : undefined;
  };
  return {
    knows: (key, wanted) => find(key, wanted) !== undefined,
    undone: (key, wanted) => {
      const known = find(key, wanted);
      if (known === undefined) return { rest_ms: 0, isQuarrel: false };
      if (known.undone_at === undefined) {
        known.undone_at = elapsed();
        known.times = elapsed() - known.written_at < QUIET_MS ? known.times + 1 : 1;
      }
      const until = known.undone_at + restOf(known.times);
      return {
        rest_ms: Math.max(0, until - elapsed()),
        isQuarrel: known.times >= QUARREL_TIMES,
      };
    },
    wrote: (key, wanted) => {
      const times = find(key, wanted)?.times ?? 0;
      all.set(key, { wanted, times, written_at: elapsed(), undone_at: undefined });
    },
    settled: (key) => {
      const known = all.get(key);
      if (known !== undefined) known.undone_at = undefined;
    },
    forget: (key) => void all.delete(key),
  };
}

/** Once it is put right at once, as any drift is. */
function restOf(times: number): number {
  return times < 2 ? 0 : Math.min(REST_MS.first * 2 ** (times - 2), REST_MS.last);
}
