/**
 * Objects that somebody changes back after every write. Two programs that both react at once would never stop, so an
 * object that was just written and undone is left alone before the next write, longer each time in a row, until nobody
 * has undone it for a while. The record ends with its term.
 */
import { keyOf, type Place } from './resource.ts';
import type { TimedClock } from './timed-clock.ts';

/**
 * Two keys: a quarrel about an object's changes must not delay restoring the object after its
 * deletion.
 */
export function quarrelKeys(kind: string, place: Place): { changed: string; deleted: string } {
  const key = `${kind} ${keyOf(place)}`;
  return { changed: key, deleted: `${key}, deleted` };
}

type Keys = ReturnType<typeof quarrelKeys>;

/** What somebody is informed of, of either quarrel about an object. */
export function heldOf(quarrels: Pick<Quarrels, 'held'>, { changed, deleted }: Keys) {
  return quarrels.held(changed) ?? quarrels.held(deleted);
}

export type Quarrels = {
  /**
   * Whether it was written in this form, so that a difference means that somebody undid the write.
   */
  knows(key: string, wanted: string): boolean;
  /** For an object that is not in the wanted form: whether and when to write it. */
  undone(key: string, wanted: string): Undone;
  wrote(key: string, wanted: string): void;
  /** Called when it is in the wanted form. */
  settled(key: string): void;
  /** Called when it is to be deleted. */
  forget(key: string): void;
  /** What somebody is informed of. */
  say(key: string, words: string): void;
  /**
   * The same, while it may be undone again: whoever undoes it slowly must not make it seem to have
   * ended each time.
   */
  held(key: string): Held | undefined;
};

export type Undone = {
  /** Time until the next write; 0: now. */
  rest_ms: number;
  /** Whether it was undone so often that somebody must be informed. */
  isQuarrel: boolean;
};

export type Held = { words: string; rest_ms: number };

const REST_MS = { first: 1_000, last: 300_000 };
/** Undone this often in a row, it is no accident. */
const QUARREL_TIMES = 3;
/** After this long without being undone, the count starts again. */
const QUIET_MS = 600_000;

type Known = {
  wanted: string;
  written_at: number;
  /** Undefined: nobody is known to have undone the last write. */
  undone_at: number | undefined;
  /** How long the write before it lasted. */
  lasted_ms: number;
  /** How often in a row it was undone. */
  times: number;
  words?: string;
};

export function createQuarrels({ elapsed }: Pick<TimedClock, 'elapsed'>): Quarrels {
  const all = new Map<string, Known>();
  const find = (key: string, wanted: string) => {
    const known = all.get(key);
    return known?.wanted === wanted ? known : undefined;
  };
  // Had it stayed undone, it would have been written since: somebody restored it, and nobody had to look.
  const isForgotten = ({ undone_at = elapsed(), times }: Known) =>
    elapsed() - undone_at >= restOf(times) + QUIET_MS;
  return {
    knows: (key, wanted) => find(key, wanted) !== undefined,
    undone: (key, wanted) => {
      const known = find(key, wanted);
      if (known === undefined) return { rest_ms: 0, isQuarrel: false };
      if (known.undone_at === undefined || isForgotten(known)) {
        known.undone_at = elapsed();
        known.lasted_ms = elapsed() - known.written_at;
        known.times = known.lasted_ms < QUIET_MS ? known.times + 1 : 1;
      }
      const until = known.undone_at + restOf(known.times);
      return {
        rest_ms: Math.max(0, until - elapsed()),
        isQuarrel: known.times >= QUARREL_TIMES,
      };
    },
    wrote: (key, wanted) => {
      const before = find(key, wanted) ?? { wanted, times: 0, lasted_ms: 0 };
      all.set(key, { ...before, written_at: elapsed(), undone_at: undefined });
    },
    settled: (key) => {
      const known = all.get(key);
      if (known !== undefined) known.undone_at = undefined;
    },
    forget: (key) => void all.delete(key),
    say: (key, words) => {
      const known = all.get(key);
      if (known !== undefined) known.words = words;
    },
    held: (key) => {
      const { words, times = 0, lasted_ms = 0, written_at = 0 } = all.get(key) ?? {};
      const rest_ms = written_at + Math.min(2 * lasted_ms, QUIET_MS) - elapsed();
      return words === undefined || times < QUARREL_TIMES || rest_ms <= 0
        ? undefined
        : { words, rest_ms };
    },
  };
}

/** The first time it is restored at once, like any drift. */
function restOf(times: number): number {
  return times < 2 ? 0 : Math.min(REST_MS.first * 2 ** (times - 2), REST_MS.last);
}
