/** Two buckets in a folder of their own. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../runtime/platform/clock.ts';
import type { Buckets } from '../../runtime/platform/storage/bucket.ts';
import { createFolderBucket, type FolderBucket } from '../../runtime/platform/storage/folder.ts';

export type FolderBuckets = { buckets: Buckets; folder: string; remove(): void };

export function makeFolderBuckets(): FolderBuckets {
  const folder = mkdtempSync(join(tmpdir(), 'tintype-buckets-'));
  return {
    buckets: openFolderBuckets(folder),
    folder,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The buckets of a folder that another process may use too. */
export function openFolderBuckets(
  folder: string,
  clock: Clock = systemClock,
): Record<keyof Buckets, FolderBucket> {
  const open = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return createFolderBucket({
      name,
      folder: join(folder, name),
      publicUrl: 'http://localhost',
      secret: Buffer.alloc(32, 1),
      clock,
    });
  };
  return { ingest: open('ingest'), content: open('content') };
}
