/**
 * A lock that the kernel takes back when its process ends, however it ends: that of SQLite on a file, as Node has none of
 * its own. Nothing is ever written to the file.
 */
import { rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

export type FileLock = {
  /** Takes the file away as well where it can: without one nobody holds it. */
  release(): void;
};

const SQLITE_BUSY = 5;

/** Makes the file. Undefined while somebody holds it, in this process or another; throws where there can be no lock. */
export function takeLock(path: string): FileLock | undefined {
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
        // Of a disk that takes nothing the file stays: closed, it is anybody's.
      }
      file.close();
    },
  };
}
