/**
 * Object storage that speaks S3, behind the same interface as a folder. Only a HEAD proves what exists. Every call has
 * a deadline, except a streaming body, which ends after a silence. Checksums are sent only where S3 requires one,
 * because not every store supports them.
 */
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandOutput,
} from '@aws-sdk/client-s3';
import type { ByteRange } from '../../core/delivery/byte-range.ts';
import { type Bucket, isObjectKey, type ObjectFacts, type ObjectHead } from './bucket.ts';
import { mapStreamErrors } from './map-stream-errors.ts';
import { requestTimeout, type S3Access, type S3Place } from './s3-client.ts';
import { s3Code, s3Fault, statusOf } from './s3-faults.ts';
import { listMultiparts, listObjects } from './s3-lists.ts';
import { completeMultipart } from './s3-multipart.ts';
import { presignPart, presignPut } from './s3-urls.ts';
import { createSizeCheck } from './size-check.ts';
import { withDownloadStallTimeout } from './stall-timeout.ts';

export function createS3Bucket(access: S3Access, bucket: string): Bucket {
  const place = { ...access, bucket };
  const guarded = <T>(key: string, work: () => Promise<T>): Promise<T> =>
    isObjectKey(key) ? mapErrors(bucket, work) : Promise.reject(notAKey(key));
  return {
    head: (key) => guarded(key, () => head(place, key)),
    open: (key, range) => guarded(key, () => openObject(place, key, range)),
    read: (key) => guarded(key, () => readObject(place, key)),
    write: (key, body, facts) => guarded(key, () => write(place, { key, body, facts })),
    delete: (key) => guarded(key, () => remove(place, key)),
    list: (range) => mapErrors(bucket, () => listObjects(place, range)),
    presignPut: (key, terms) => guarded(key, () => presignPut(place, key, terms)),
    createMultipart: (key, facts) => guarded(key, () => createMultipart(place, key, facts)),
    presignPart: (key, part) => guarded(key, () => presignPart(place, key, part)),
    completeMultipart: (key, list) => guarded(key, () => completeMultipart(place, key, list)),
    abortMultipart: (key, uploadId) => guarded(key, () => abortMultipart(place, key, uploadId)),
    listMultiparts: (range) => mapErrors(bucket, () => listMultiparts(place, range)),
    check: () => mapErrors(bucket, () => check(place)),
  };
}

async function mapErrors<T>(bucket: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw s3Fault(bucket, error);
  }
}

function notAKey(key: string): TypeError {
  return new TypeError(`not an object key: ${JSON.stringify(key)}`);
}

async function head(place: S3Place, key: string): Promise<ObjectHead | undefined> {
  const { client, bucket } = place;
  const command = new HeadObjectCommand({ Bucket: bucket, Key: key });
  const answer = await client.send(command, requestTimeout(place)).catch(async (error: unknown) => {
    if (statusOf(error) !== 404) throw error;
    // The answer to a HEAD has no body to report that the bucket is missing, or that no storage
    // answers.
    await check(place);
    return undefined;
  });
  if (answer === undefined) return undefined;
  const { ContentLength: size_bytes = 0, ContentType: content_type, ETag: etag = '' } = answer;
  return { size_bytes, content_type, etag };
}

const MISSING: readonly unknown[] = ['NoSuchKey', 'NoSuchUpload'];

/**
 * A missing bucket is not a missing object, nor is the 404 of an ingress that has lost its storage:
 * neither means that an upload is lost, or bytes are deleted.
 */
function unlessMissing(error: unknown): undefined {
  if (!MISSING.includes(s3Code(error))) throw error;
}

const EMPTY_RANGE_STATUS = 416;

async function openObject(
  { reader, bucket, deadlineMs, silenceMs }: S3Place,
  key: string,
  range?: ByteRange,
): Promise<Readable | undefined> {
  const Range = range && `bytes=${range.start}-${range.end}`;
  const command = new GetObjectCommand({ Bucket: bucket, Key: key, ...(Range && { Range }) });
  // The deadline covers the head of the answer; the body may take any time as long as bytes arrive.
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), deadlineMs);
  try {
    const { Body } = await reader.send(command, { abortSignal: stop.signal });
    if (!(Body instanceof Readable)) return Readable.from([]);
    return withDownloadStallTimeout(
      mapStreamErrors(Body, (error) => s3Fault(bucket, error)),
      silenceMs,
    );
  } catch (error) {
    return statusOf(error) === EMPTY_RANGE_STATUS ? Readable.from([]) : unlessMissing(error);
  } finally {
    clearTimeout(timer);
  }
}

async function readObject(place: S3Place, key: string): Promise<Buffer | undefined> {
  const body = await openObject(place, key);
  return body && Buffer.concat(await body.toArray());
}

type Write = { key: string; body: Buffer | Readable; facts: ObjectFacts };

async function write(place: S3Place, { key, body, facts }: Write): Promise<ObjectHead> {
  const { content_type, size_bytes } = facts;
  const params = { Bucket: place.bucket, Key: key, ContentType: content_type };
  if (!Buffer.isBuffer(body) && size_bytes !== undefined) {
    const sent = await writeStream(place, { ...params, ContentLength: size_bytes }, body);
    return { size_bytes, content_type, etag: sent.ETag ?? '' };
  }
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(await body.toArray());
  const command = new PutObjectCommand({ ...params, Body: createSizeCheck(size_bytes).of(bytes) });
  const sent = await place.writer.send(command, requestTimeout(place, bytes.length));
  return { size_bytes: bytes.length, content_type, etag: sent.ETag ?? '' };
}

type StreamTarget = { Bucket: string; Key: string; ContentType: string; ContentLength: number };

/**
 * A body may take as long as its sender, who is responsible for its rate; only a silent storage
 * ends it. The client does not notice a body that breaks off, so the request is aborted, and
 * nothing is stored.
 */
async function writeStream(
  { writer }: S3Place,
  target: StreamTarget,
  source: Readable,
): Promise<PutObjectCommandOutput> {
  const stop = new AbortController();
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const body = source.pipe(createSizeCheck(target.ContentLength).passing());
  source.once('error', (error) => body.destroy(error));
  source.once('close', () => source.readableEnded || body.destroy(new Error('the body broke off')));
  body.once('error', reject);
  const command = new PutObjectCommand({ ...target, Body: body });
  try {
    return await Promise.race([writer.send(command, { abortSignal: stop.signal }), broken]);
  } finally {
    // Also ends a request that was answered before its end; nothing else would close its
    // connection.
    stop.abort();
    body.destroy();
  }
}

async function remove(place: S3Place, key: string): Promise<void> {
  const command = new DeleteObjectCommand({ Bucket: place.bucket, Key: key });
  await place.client.send(command, requestTimeout(place)).catch(unlessMissing);
}

async function createMultipart(
  place: S3Place,
  key: string,
  { content_type }: { content_type: string },
): Promise<string> {
  const params = { Bucket: place.bucket, Key: key, ContentType: content_type };
  const answer = await place.client.send(
    new CreateMultipartUploadCommand(params),
    requestTimeout(place),
  );
  if (answer.UploadId === undefined) throw new Error('the storage named no multipart upload');
  return answer.UploadId;
}

async function abortMultipart(place: S3Place, key: string, uploadId: string): Promise<void> {
  const params = { Bucket: place.bucket, Key: key, UploadId: uploadId };
  const command = new AbortMultipartUploadCommand(params);
  await place.client.send(command, requestTimeout(place)).catch(unlessMissing);
}

async function check(place: S3Place): Promise<void> {
  const command = new HeadBucketCommand({ Bucket: place.bucket });
  await place.client.send(command, requestTimeout(place)).catch((error) => {
    // The answer to a HEAD has no body to name its error.
    throw statusOf(error) === 404 ? Object.assign(error, { name: 'NoSuchBucket' }) : error;
  });
}
