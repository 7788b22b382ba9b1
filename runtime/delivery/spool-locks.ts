/**
 * Determines who owns which spool when several processes share one folder: each process holds the lock of its own
 * spool, and of the spools that it sends for processes that have ended. Spec: Metering.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock, type FileLock } from '../platform/file-lock.ts';

export type SpoolLocks = {
  /**
   * False when another process has the lock; otherwise no other process can take it until `release`.
   */
  take(spoolId: string): boolean;
  release(spoolId: string): void;
  releaseAll(): void;
};

const LOCK_NAME = /^(.+)\.lock$/;
/**
 * A newer lock may belong to a process that has just made it and is about to lock it; removing the
 * file would leave that process without a lock.
 */
const LEFT_MS = 60_000;

export function createSpoolLocks(folder: string): SpoolLocks {
  const held = new Map<string, FileLock>();
  const take = (spoolId: string) => {
    if (held.has(spoolId)) return true;
    const lock = tryLock(lockPath(folder, spoolId));
    if (typeof lock === 'object') held.set(spoolId, lock);
    return lock !== 'held';
  };
  const release = (spoolId: string) => {
    held.get(spoolId)?.release();
    held.delete(spoolId);
  };
  // A killed process leaves its lock file behind.
  for (const name of readdirSync(folder)) {
    const spoolId = LOCK_NAME.exec(name)?.[1];
    if (spoolId !== undefined && isLeft(join(folder, name)) && take(spoolId)) release(spoolId);
  }
  return { take, release, releaseAll: () => [...held.keys()].forEach(release) };
}

/** The file is there as long as its process lives, and before the spool's folder is. */
export function lockPath(folder: string, spoolId: string): string {
  return join(folder, `${spoolId}.lock`);
}

function isLeft(path: string): boolean {
  const made = statSync(path, { throwIfNoEntry: false });
  return made !== undefined && Date.now() - made.mtimeMs > LEFT_MS;
}

/**
 * `impossible`: a full disk has no room for a lock, or the file system has no locks. The folder is
 * then assumed to belong to this process alone.
 */
function tryLock(path: string): FileLock | 'held' | 'impossible' {
  try {
    return acquireLock(path) ?? 'held';
  } catch {
    return 'impossible';
  }
}
