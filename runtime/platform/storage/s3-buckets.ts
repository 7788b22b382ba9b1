/** The two buckets of an installation on object storage, as configured. */
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Buckets } from './bucket.ts';
import { createS3Bucket } from './s3.ts';
import { openS3, type S3Access } from './s3-client.ts';
import { tracedBucket } from './traced-bucket.ts';

export type S3Settings = Pick<
  Config,
  | 's3Endpoint'
  | 's3PublicEndpoint'
  | 's3Region'
  | 's3ForcePathStyle'
  | 'ingestBucket'
  | 'contentBucket'
>;

/** Connects to nothing yet: their `check` tells whether the buckets exist. */
export function openS3Buckets(config: S3Settings, clock: Clock): Buckets {
  const access = openS3Access(config, clock);
  return {
    ingest: tracedBucket(createS3Bucket(access, config.ingestBucket), 'ingest'),
    content: tracedBucket(createS3Bucket(access, config.contentBucket), 'content'),
  };
}

/** The credentials come from the usual AWS variables, profiles and roles. */
export function openS3Access(config: S3Settings, clock: Clock): S3Access {
  return openS3({
    endpoint: config.s3Endpoint,
    publicEndpoint: config.s3PublicEndpoint,
    region: config.s3Region,
    addressing: config.s3ForcePathStyle === 'true' ? 'path' : 'host',
    clock,
  });
}
