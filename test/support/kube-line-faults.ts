/** Faults for the lines of a watch: repeats them together with older ones, swaps neighbors, or cuts a line in half. */

/**
 * `replayed` repeats each line and then an older one. `reordered` holds each line until the next
 * one has passed, at most 30 ms. `late` holds all lines until another fault is set.
 */
export type LineFault = 'none' | 'replayed' | 'reordered' | 'late';

export type LineFaults = {
  set(fault: LineFault): void;
  take(text: string): void;
  /** Writes half of the next line and then calls `then`. */
  cutNext(then: () => void): void;
};

const HELD_MS_MAX = 30;
const OLDER_LINES = 5;

export function createLineFaults(write: (text: string) => void): LineFaults {
  let fault: LineFault = 'none';
  let rest = '';
  let held: string | undefined;
  let cut: (() => void) | undefined;
  const older: string[] = [];
  const flush = () => {
    if (held !== undefined) write(held);
    held = undefined;
  };
  const faults: Record<LineFault, (line: string) => void> = {
    none: (line) => {
      flush();
      write(line);
    },
    replayed: (line) => {
      write(line + line + (older[0] ?? ''));
      older.push(line);
      if (older.length > OLDER_LINES) older.shift();
    },
    reordered: (line) => {
      if (held !== undefined) {
        write(line);
        flush();
        return;
      }
      held = line;
      setTimeout(flush, HELD_MS_MAX);
    },
    late: (line) => {
      held = (held ?? '') + line;
    },
  };
  return {
    set: (wanted) => {
      if (fault === 'late') flush();
      fault = wanted;
    },
    cutNext: (then) => {
      cut = then;
    },
    take: (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (cut !== undefined) {
          flush();
          write(line.slice(0, Math.ceil(line.length / 2)));
          cut();
          return;
        }
        faults[fault](`${line}\n`);
      }
    },
  };
}
