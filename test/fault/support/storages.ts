/** The two kinds of storage, for a test and the processes that it starts, and a way to inspect all stored objects. */

import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  GetObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import type { Clock } from '../../../runtime/platform/clock.ts';
import type { Bucket, Buckets } from '../../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../../runtime/platform/storage/s3.ts';
import type { S3Access } from '../../../runtime/platform/storage/s3-client.ts';
import { makeFolderBuckets, openFolderBuckets } from '../../support/folder-buckets.ts';
import { connectS3, createBucket, type S3Server, startS3Server } from '../../support/s3-server.ts';
import { readFolderObjects, type StoredObject } from './promises.ts';

/** What a process needs to open the storage. */
export type StorageWords =
  | { kind: 'folder'; folder: string }
  | {
      kind: 'S3';
      server: Pick<S3Server, 'endpoint' | 'credentials'>;
      ingest: string;
      content: string;
    };

export const STORAGE_KINDS = ['folder', 'S3'] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

export type TestStorage = {
  words: StorageWords;
  buckets: Buckets;
  /**
   * Returns every complete or incomplete object of a bucket with its digest, without the product's
   * code.
   */
  look(bucket: keyof Buckets): Promise<StoredObject[]>;
  /** Returns the same buckets with another clock. */
  at(clock: Clock): Buckets;
  remove(): Promise<void>;
};

export function makeStorage(kind: StorageKind): Promise<TestStorage> {
  return kind === 'folder' ? makeFolder() : makeS3();
}

export function openStorage(words: StorageWords): Buckets {
  if (words.kind === 'folder') return openFolderBuckets(words.folder);
  const access = connectS3(words.server);
  return bucketsOf(access, words);
}

async function makeFolder(): Promise<TestStorage> {
  const { folder, buckets, remove } = makeFolderBuckets();
  return {
    words: { kind: 'folder', folder },
    buckets,
    look: (bucket) => readFolderObjects(join(folder, bucket)),
    at: (clock) => openFolderBuckets(folder, { clock }),
    remove: async () => remove(),
  };
}

async function makeS3(): Promise<TestStorage> {
  const server = await startS3Server();
  const access = connectS3(server);
  const name = randomBytes(4).toString('hex');
  const names = {
    ingest: await createBucket(access, `${name}-ingest`),
    content: await createBucket(access, `${name}-content`),
  };
  const { endpoint, credentials } = server;
  const buckets = bucketsOf(access, names);
  return {
    words: { kind: 'S3', server: { endpoint, credentials }, ...names },
    buckets,
    at: () => buckets,
    look: (bucket) => readS3Objects(access, names[bucket]),
    remove: async () => {
      access.client.destroy();
      await server.stop();
    },
  };
}

function bucketsOf(access: S3Access, names: Record<keyof Buckets, string>): Buckets {
  const open = (name: string): Bucket => createS3Bucket(access, name);
  return { ingest: open(names.ingest), content: open(names.content) };
}

async function readS3Objects({ client }: S3Access, Bucket: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket })) {
    for (const { Key = '' } of Contents) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      objects.push({ key: Key, sha256, size_bytes: bytes.length, isWhole: true });
    }
  }
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  const begun = Uploads.map(({ Key = '' }) => ({
    key: Key,
    sha256: '',
    size_bytes: 0,
    isWhole: false,
  }));
  return [...objects, ...begun];
}
