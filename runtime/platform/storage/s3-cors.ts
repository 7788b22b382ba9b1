/** The CORS rule of a bucket to which browsers upload: they PUT to presigned URLs, and read the ETag of each part. */
import { PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { requestTimeout, type S3Access } from './s3-client.ts';
import { s3Fault } from './s3-faults.ts';

const PREFLIGHT_SECONDS = 3600;

/**
 * Replaces all rules of the bucket. Any origin is allowed: the presigned URL is the credential, and
 * widgets upload from pages unknown to us.
 */
export async function writeBucketCors(access: S3Access, bucket: string): Promise<void> {
  const rule = {
    AllowedOrigins: ['*'],
    AllowedMethods: ['PUT'],
    AllowedHeaders: ['*'],
    ExposeHeaders: ['ETag'],
    MaxAgeSeconds: PREFLIGHT_SECONDS,
  };
  const command = new PutBucketCorsCommand({
    Bucket: bucket,
    CORSConfiguration: { CORSRules: [rule] },
  });
  try {
    await access.client.send(command, requestTimeout(access));
  } catch (error) {
    throw s3Fault(bucket, error);
  }
}
