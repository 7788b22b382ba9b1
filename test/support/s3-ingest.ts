/** An ingest bucket on a real S3 server. */
import { afterAll, beforeAll } from 'vitest';
import type { Bucket } from '../../runtime/platform/storage/bucket.ts';
import { createS3Bucket } from '../../runtime/platform/storage/s3.ts';
import type { S3Access } from '../../runtime/platform/storage/s3-client.ts';
import { connectS3, createBucket, type S3Server, startS3Server } from './s3-server.ts';

/**
 * Call it once per test file: the server runs from before the first test until after the last.
 * `connect` can replace the direct connection to it.
 */
export function useS3Ingest(
  connect: (s3: S3Server) => S3Access | Promise<S3Access> = connectS3,
): () => Bucket {
  let s3: S3Server | undefined;
  let bucket: Bucket | undefined;
  beforeAll(async () => {
    s3 = await startS3Server();
    const access = await connect(s3);
    bucket = createS3Bucket(access, await createBucket(access, 'ingest'));
  });
  afterAll(() => s3?.stop());
  return () => {
    if (bucket === undefined) throw new Error('the bucket is there from beforeAll on');
    return bucket;
  };
}
