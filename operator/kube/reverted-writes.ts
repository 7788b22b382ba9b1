/**
 * Objects that somebody changes back after every write. Two programs that both react at once would never stop, so an
 * object that was just written and undone is left alone before the next write, longer each time in a row, until nobody
 * has undone it for a while. The record ends with its term.
 */
import { keyOf, type Place } from './resource.ts';
import type { TimedClock } from './timed-clock.ts';

/**
 * Two keys: reverted changes of an object must not delay restoring the object after its
 * deletion.
 */
export function revertKeys(kind: string, place: Place): { changed: string; deleted: string } {
  const key = `${kind} ${keyOf(place)}`;
  return { changed: key, deleted: `${key}, deleted` };
}

type Keys = ReturnType<typeof revertKeys>;

/** What somebody is informed of, of either kind of revert. */
export function findActiveRevert(
  reverts: Pick<RevertedWrites, 'findActive'>,
  { changed, deleted }: Keys,
) {
  return reverts.findActive(changed) ?? reverts.findActive(deleted);
}

export type RevertedWrites = {
  /**
   * Whether it was written in this form, so that a difference means that somebody undid the write.
   */
  hasWritten(key: string, wanted: string): boolean;
  /** For an object that is not in the wanted form: whether and when to write it. */
  recordRevert(key: string, wanted: string): RevertResponse;
  recordWrite(key: string, wanted: string): void;
  /** Called when it is in the wanted form. */
  recordInSync(key: string): void;
  /** Called when it is to be deleted. */
  forget(key: string): void;
  /** What somebody is informed of. */
  setMessage(key: string, message: string): void;
  /**
   * The same, while it may be undone again: whoever undoes it slowly must not make it seem to have
   * ended each time.
   */
  findActive(key: string): ActiveRevert | undefined;
};

export type RevertResponse = {
  /** Time until the next write; 0: now. */
  retry_after_ms: number;
  /** Whether it was undone so often that somebody must be informed. */
  isRepeated: boolean;
};

export type ActiveRevert = { message: string; retry_after_ms: number };

const DELAY_MS = { first: 1_000, last: 300_000 };
/** Undone this often in a row, it is no accident. */
const REPEATED_TIMES = 3;
/** After this long without being undone, the count starts again. */
const QUIET_MS = 600_000;

type Known = {
  wanted: string;
  written_at: number;
  /** Undefined: nobody is known to have undone the last write. */
  reverted_at: number | undefined;
  /** How long the write before it lasted. */
  lasted_ms: number;
  /** How often in a row it was undone. */
  times: number;
  message?: string;
};

export function createRevertedWrites({ elapsed }: Pick<TimedClock, 'elapsed'>): RevertedWrites {
  const all = new Map<string, Known>();
  const find = (key: string, wanted: string) => {
    const known = all.get(key);
    return known?.wanted === wanted ? known : undefined;
  };
  // Had it stayed undone, it would have been written since: somebody restored it, and nobody had to look.
  const isForgotten = ({ reverted_at = elapsed(), times }: Known) =>
    elapsed() - reverted_at >= delayAfter(times) + QUIET_MS;
  return {
    hasWritten: (key, wanted) => find(key, wanted) !== undefined,
    recordRevert: (key, wanted) => {
      const known = find(key, wanted);
      if (known === undefined) return { retry_after_ms: 0, isRepeated: false };
      if (known.reverted_at === undefined || isForgotten(known)) {
        known.reverted_at = elapsed();
        known.lasted_ms = elapsed() - known.written_at;
        known.times = known.lasted_ms < QUIET_MS ? known.times + 1 : 1;
      }
      const until = known.reverted_at + delayAfter(known.times);
      return {
        retry_after_ms: Math.max(0, until - elapsed()),
        isRepeated: known.times >= REPEATED_TIMES,
      };
    },
    recordWrite: (key, wanted) => {
      const before = find(key, wanted) ?? { wanted, times: 0, lasted_ms: 0 };
      all.set(key, { ...before, written_at: elapsed(), reverted_at: undefined });
    },
    recordInSync: (key) => {
      const known = all.get(key);
      if (known !== undefined) known.reverted_at = undefined;
    },
    forget: (key) => void all.delete(key),
    setMessage: (key, message) => {
      const known = all.get(key);
      if (known !== undefined) known.message = message;
    },
    findActive: (key) => {
      const { message, times = 0, lasted_ms = 0, written_at = 0 } = all.get(key) ?? {};
      const retry_after_ms = written_at + Math.min(2 * lasted_ms, QUIET_MS) - elapsed();
      return message === undefined || times < REPEATED_TIMES || retry_after_ms <= 0
        ? undefined
        : { message, retry_after_ms };
    },
  };
}

/** The first time it is restored at once, like any drift. */
function delayAfter(times: number): number {
  return times < 2 ? 0 : Math.min(DELAY_MS.first * 2 ** (times - 2), DELAY_MS.last);
}
