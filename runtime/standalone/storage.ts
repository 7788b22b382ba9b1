/**
 * The two buckets of a standalone: folders below the data folder, with signed PUT URLs on the API's port; or object
 * storage, if the environment names one.
 */
import { join } from 'node:path';
import type { SharedPortHandler } from '../api/serve.ts';
import { Advice } from '../platform/advice.ts';
import { systemClock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { type Buckets, StorageUnavailable } from '../platform/storage/bucket.ts';
import {
  openFolderBuckets,
  removeUnfinished,
  STORAGE_FOLDER,
} from '../platform/storage/folder-buckets.ts';
import { folderStorageHandler } from '../platform/storage/folder-server.ts';
import type { StandaloneConfig } from './environment.ts';

export type Storage = { buckets: Buckets; handle: SharedPortHandler };

type Opening = { dataFolder: string; secret: Uint8Array; log: Log };

export async function openStorage(config: StandaloneConfig, opening: Opening): Promise<Storage> {
  return config.s3Endpoint === undefined ? openFolders(config, opening) : openS3(config);
}

/** Checked at once: a person who configured a storage should learn of a missing bucket now. */
async function openS3(config: StandaloneConfig): Promise<Storage> {
  const { openS3Buckets } = await import('../platform/storage/s3-buckets.ts');
  const buckets = openS3Buckets(config, systemClock);
  for (const bucket of [buckets.ingest, buckets.content]) {
    await bucket.check().catch((cause: unknown) => {
      throw cause instanceof StorageUnavailable ? new Advice(cause.advice, { cause }) : cause;
    });
  }
  return { buckets, handle: () => false };
}

async function openFolders(
  { baseUrl }: StandaloneConfig,
  { dataFolder, secret, log }: Opening,
): Promise<Storage> {
  const clock = systemClock;
  const folder = join(dataFolder, STORAGE_FOLDER);
  // The data folder is claimed, so unfinished files in it belong to a process that is gone.
  const opened = removeUnfinished(folder).then(() =>
    openFolderBuckets({ folder, publicUrl: baseUrl, secret, clock }),
  );
  const buckets = await opened.catch((cause: NodeJS.ErrnoException) => {
    throw new Advice(
      `${folder} cannot be created (${cause.code}): name another folder with --data`,
      {
        cause,
      },
    );
  });
  // Only client uploads go through URLs; served images are written by the worker alone.
  const handle = folderStorageHandler({ buckets: { ingest: buckets.ingest }, secret, clock, log });
  return { buckets, handle };
}
