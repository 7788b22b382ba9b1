/** The two buckets of a Tintype on one machine, as folders side by side, created when missing. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Buckets } from './bucket.ts';
import { createFolderBucket, type FolderBucket, type FolderBucketOptions } from './folder.ts';
import { INCOMING_FOLDER } from './object-file.ts';

/** In the data folder of a standalone. */
export const STORAGE_FOLDER = 'storage';

/** `folder` holds one folder per bucket; their names are also the buckets' names in URLs. */
export async function openFolderBuckets(
  options: Omit<FolderBucketOptions, 'name'>,
): Promise<Record<keyof Buckets, FolderBucket>> {
  const bucket = async (name: string) => {
    const folder = join(options.folder, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return createFolderBucket({ ...options, name, folder });
  };
  return { ingest: await bucket('ingest'), content: await bucket('content') };
}

/**
 * Removes unfinished files of a killed process. Only for a caller who knows that nobody else writes
 * there now.
 */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of ['ingest', 'content'] satisfies (keyof Buckets)[]) {
    await rm(join(folder, name, INCOMING_FOLDER), { recursive: true, force: true });
  }
}
