/** Lists of any length, read in pages of at most a thousand. */
import { ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { ListedObject, OpenMultipart } from './bucket.ts';
import { requestTimeout, type S3Place } from './s3-client.ts';

type Wanted = { prefix: string; after?: string; limit: number };
const PAGE_MAX = 1000;

export async function listObjects(place: S3Place, wanted: Wanted): Promise<ListedObject[]> {
  return collect(wanted, async ({ after, limit }) => {
    const command = new ListObjectsV2Command({
      Bucket: place.bucket,
      Prefix: wanted.prefix,
      MaxKeys: limit,
      ...(after === undefined ? {} : { StartAfter: after }),
    });
    const { Contents = [], IsTruncated = false } = await place.client.send(
      command,
      requestTimeout(place),
    );
    const found = Contents.map(({ Key = '', Size = 0, LastModified = new Date(0) }) => ({
      key: Key,
      size_bytes: Size,
      modified_at: LastModified,
    }));
    return { found, isLast: !IsTruncated };
  });
}

export async function listMultiparts(place: S3Place, wanted: Wanted): Promise<OpenMultipart[]> {
  return collect(wanted, async ({ after, limit }) => {
    const command = new ListMultipartUploadsCommand({
      Bucket: place.bucket,
      Prefix: wanted.prefix,
      MaxUploads: limit,
      ...(after === undefined ? {} : { KeyMarker: after }),
    });
    const { Uploads = [], IsTruncated = false } = await place.client.send(
      command,
      requestTimeout(place),
    );
    const found = Uploads.map(({ Key = '', UploadId = '', Initiated = new Date(0) }) => ({
      key: Key,
      upload_id: UploadId,
      started_at: Initiated,
    }));
    return { found, isLast: !IsTruncated };
  });
}

type Page<T> = { found: T[]; isLast: boolean };

async function collect<T extends { key: string }>(
  wanted: Wanted,
  readPage: (page: { after: string | undefined; limit: number }) => Promise<Page<T>>,
): Promise<T[]> {
  const all: T[] = [];
  let after = wanted.after;
  while (all.length < wanted.limit) {
    const limit = Math.min(PAGE_MAX, wanted.limit - all.length);
    const { found, isLast } = await readPage({ after, limit });
    all.push(...found);
    after = found.at(-1)?.key;
    if (isLast || after === undefined) break;
  }
  return all;
}
