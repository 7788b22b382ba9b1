/** A folder for this user alone, where there is none yet. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Parent by parent: a recursive mkdir of Node never ends where a parent that exists says that it does not. */
export function makeFolder(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Made by another process in between.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
