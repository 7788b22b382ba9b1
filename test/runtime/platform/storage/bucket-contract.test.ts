import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import type { Bucket } from '../../../../runtime/platform/storage/bucket.ts';
import {
  createFolderBucket,
  type FolderBucket,
} from '../../../../runtime/platform/storage/folder.ts';
import { folderStorageHandler } from '../../../../runtime/platform/storage/folder-server.ts';
import { createS3Bucket } from '../../../../runtime/platform/storage/s3.ts';
import { openS3 } from '../../../../runtime/platform/storage/s3-client.ts';
import { closeHttp } from '../../../support/close-http.ts';
import {
  connectS3,
  createBucket,
  type S3Server,
  startS3Server,
} from '../../../support/s3-server.ts';
import { describeBucket } from './bucket-contract.ts';

const secret = Buffer.alloc(32, 9);
const folder = mkdtempSync(join(tmpdir(), 'tintype-contract-'));
let server: Server;
let folderBucket: FolderBucket;
let s3: S3Server | undefined;
let s3Bucket: Bucket;

beforeAll(async () => {
  mkdirSync(join(folder, 'ingest'));
  const buckets: Record<string, FolderBucket> = {};
  const handle = folderStorageHandler({ buckets, secret, clock: systemClock });
  server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const place = { name: 'ingest', folder: join(folder, 'ingest'), publicUrl };
  folderBucket = createFolderBucket({ ...place, secret, clock: systemClock });
  buckets.ingest = folderBucket;
  s3 = await startS3Server();
  const access = connectS3(s3);
  s3Bucket = createS3Bucket(access, await createBucket(access, 'contract'));
});

afterAll(async () => {
  await s3?.stop();
  await closeHttp(server);
  rmSync(folder, { recursive: true, force: true });
});

it('a missing S3 bucket is reported by head, read and delete', async () => {
  const missing = createS3Bucket(connectS3(s3 as S3Server), 'nowhere');
  const advice = 'The bucket nowhere does not exist: create it, or name another one.';
  await expect(missing.head('a')).rejects.toMatchObject({ advice });
  await expect(missing.read('a')).rejects.toMatchObject({ advice });
  await expect(missing.delete('a')).rejects.toMatchObject({ advice });
});

describeBucket('folder storage', () => folderBucket);
describeBucket('versitygw', () => s3Bucket);

/** To test another object store, set its endpoint and bucket in the environment. */
const { TINTYPE_TEST_S3_ENDPOINT: endpoint, TINTYPE_TEST_S3_BUCKET: named } = process.env;
if (endpoint !== undefined && named !== undefined) {
  const access = openS3({ endpoint, region: 'us-east-1', addressing: 'path', clock: systemClock });
  describeBucket(endpoint, () => createS3Bucket(access, named));
}
