/** Fills a disk with one file, to its last block. */
import { closeSync, openSync, writeSync } from 'node:fs';

/** Throws any error except ENOSPC. */
export function fillDisk(file: string): void {
  const ballast = openSync(file, 'w');
  try {
    for (;;) writeSync(ballast, Buffer.alloc(4096));
  } catch (error) {
    if (!String(error).includes('ENOSPC')) throw error;
  } finally {
    closeSync(ballast);
  }
}
