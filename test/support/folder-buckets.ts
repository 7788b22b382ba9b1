/** Folder buckets for tests, in a temporary folder. */
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

type Opening = { clock?: Clock; publicUrl?: string; secret?: Uint8Array };

/** Opens the buckets of a folder that other processes may use, too. */
export function openFolderBuckets(
  folder: string,
  options: Opening = {},
): Record<keyof Buckets, FolderBucket> {
  const usual = { publicUrl: 'http://localhost', secret: Buffer.alloc(32, 1), clock: systemClock };
  const open = (name: string) => {
    mkdirSync(join(folder, name), { recursive: true });
    return createFolderBucket({ ...usual, ...options, name, folder: join(folder, name) });
  };
  return { ingest: open('ingest'), content: open('content') };
}
