/**
 * The two buckets of one machine's Tintype, as folders beside one another, made where they are missing.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Buckets } from './bucket.ts';
import { createFolderBucket, type FolderBucketOptions } from './folder.ts';

/** In the data folder of standalone. */
export const STORAGE_FOLDER = 'storage';

/** `folder` holds one folder a bucket; their names are the buckets' names in URLs too. */
export async function openFolderBuckets(
  options: Omit<FolderBucketOptions, 'name'>,
): Promise<Buckets> {
  const bucket = async (name: string) => {
    const folder = join(options.folder, name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return createFolderBucket({ ...options, name, folder });
  };
  return { ingest: await bucket('ingest'), content: await bucket('content') };
}
