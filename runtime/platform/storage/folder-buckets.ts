/**
 * The two buckets of one machine's Tintype, as folders beside one another, made where they are missing.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Buckets } from './bucket.ts';
import { createFolderBucket, type FolderBucket, type FolderBucketOptions } from './folder.ts';
import { INCOMING_FOLDER } from './object-file.ts';

/** In the data folder of standalone. */
export const STORAGE_FOLDER = 'storage';

/** `folder` holds one folder a bucket; their names are the buckets' names in URLs too. */
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

/** Removes what a killed process had begun to write. Only for who knows that nobody else writes there now. */
export async function removeUnfinished(folder: string): Promise<void> {
  for (const name of ['ingest', 'content'] satisfies (keyof Buckets)[]) {
    await rm(join(folder, name, INCOMING_FOLDER), { recursive: true, force: true });
  }
}
