/**
 * A lock that the kernel releases when its process ends for any reason: SQLite's lock on a file, as Node has none of
 * its own. Nothing is ever written to the file.
 */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export type FileLock = {
  /** Also removes the file if possible: without the file nobody holds the lock. */
  release(): void;
};

const SQLITE_BUSY = 5;

/**
 * Creates the file. Undefined while somebody holds the lock, in this process or another; throws
 * when locking is impossible.
 */
export function acquireLock(path: string): FileLock | undefined {
  const file = new DatabaseSync(path);
  try {
    file.exec('begin exclusive');
  } catch (error) {
    file.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return;
    throw error;
  }
  return {
    release: () => {
      try {
        rmSync(path, { force: true });
      } catch {
        // On a disk that refuses the removal the file stays; once it is closed, anybody can lock
        // it.
      }
      file.close();
    },
  };
}
