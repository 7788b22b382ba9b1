/**
 * Whose spool is whose, where several processes have one folder: each holds the lock of its own, and of those that it
 * sends for processes that have ended. Spec: Metering.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type FileLock, takeLock } from '../platform/file-lock.ts';

export type SpoolLocks = {
  /** Whether no other process has it; none takes it before it is let go of. */
  take(spoolId: string): boolean;
  letGo(spoolId: string): void;
  letGoOfAll(): void;
};

const LOCK_NAME = /^(.+)\.lock$/;
/** What is newer may have been made by a process that is about to lock it, and goes on without one where it went. */
const LEFT_MS = 60_000;

export function createSpoolLocks(folder: string): SpoolLocks {
  const held = new Map<string, FileLock>();
  const take = (spoolId: string) => {
    if (held.has(spoolId)) return true;
    const lock = tryLock(join(folder, `${spoolId}.lock`));
    if (typeof lock === 'object') held.set(spoolId, lock);
    return lock !== 'held';
  };
  const letGo = (spoolId: string) => {
    held.get(spoolId)?.release();
    held.delete(spoolId);
  };
  // What was killed left its lock behind.
  for (const name of readdirSync(folder)) {
    const spoolId = LOCK_NAME.exec(name)?.[1];
    if (spoolId !== undefined && isLeft(join(folder, name)) && take(spoolId)) letGo(spoolId);
  }
  return { take, letGo, letGoOfAll: () => [...held.keys()].forEach(letGo) };
}

function isLeft(path: string): boolean {
  const made = statSync(path, { throwIfNoEntry: false });
  return made !== undefined && Date.now() - made.mtimeMs > LEFT_MS;
}

/** Where a full disk has no room for one, or a file system knows none, the folder is taken to be one process's. */
function tryLock(path: string): FileLock | 'held' | 'impossible' {
  try {
    return takeLock(path) ?? 'held';
  } catch {
    return 'impossible';
  }
}
