/** The two buckets of a standalone: folders below the data folder, with signed PUT URLs on the API's port. */
import { join } from 'node:path';
import { Advice } from '../platform/advice.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import {
  openFolderBuckets,
  removeUnfinished,
  STORAGE_FOLDER,
} from '../platform/storage/folder-buckets.ts';
import { folderStorageHandler } from '../platform/storage/folder-server.ts';

export type Storage = { buckets: Buckets; handle: ReturnType<typeof folderStorageHandler> };

export async function openStorage(options: {
  dataFolder: string;
  publicUrl: string;
  secret: Uint8Array;
  clock: Clock;
  log: Log;
}): Promise<Storage> {
  const { publicUrl, secret, clock, log } = options;
  const folder = join(options.dataFolder, STORAGE_FOLDER);
  // The data folder is claimed: whatever is unfinished there belongs to a process that is gone.
  const opened = removeUnfinished(folder).then(() =>
    openFolderBuckets({ folder, publicUrl, secret, clock }),
  );
  const buckets = await opened.catch((cause: NodeJS.ErrnoException) => {
    throw new Advice(`${folder} cannot be made (${cause.code}): name another folder with --data`, {
      cause,
    });
  });
  // Only what clients send is taken by URL; what is served is written by the worker alone.
  const handle = folderStorageHandler({ buckets: { ingest: buckets.ingest }, secret, clock, log });
  return { buckets, handle };
}
