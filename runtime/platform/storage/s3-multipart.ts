/** Completes a multipart upload. The storage's answer is only a hint: the caller checks the object. */
import { CompleteMultipartUploadCommand } from '@aws-sdk/client-s3';
import { MultipartRefused, type PartList } from './bucket.ts';
import { requestTimeout, type S3Place } from './s3-client.ts';
import { s3Code, statusOf } from './s3-faults.ts';

/** Faults in the list that the client can correct. */
const CORRECTABLE: ReadonlySet<string> = new Set([
  'InvalidPart',
  'InvalidPartOrder',
  'EntityTooSmall',
  'MalformedXML',
]);

/**
 * Matched by its code, like the others: a refusal after the storage has begun to answer has another
 * status.
 */
const NO_UPLOAD = 'NoSuchUpload';

export async function completeMultipart(
  place: S3Place,
  key: string,
  list: PartList,
): Promise<void> {
  const params = { Bucket: place.bucket, Key: key, UploadId: list.upload_id };
  const Parts = list.parts.map(({ part_number, etag }) => ({
    PartNumber: part_number,
    ETag: etag.startsWith('"') ? etag : `"${etag}"`,
  }));
  const command = new CompleteMultipartUploadCommand({ ...params, MultipartUpload: { Parts } });
  try {
    await place.client.send(command, requestTimeout(place));
  } catch (error) {
    throw refusal(error) ?? error;
  }
}

/** Undefined for failures that are not the list's fault: an outage, refused credentials. */
function refusal(error: unknown): MultipartRefused | undefined {
  const code = s3Code(error);
  if (code === undefined || !(error instanceof Error)) return undefined;
  if (CORRECTABLE.has(code)) return new MultipartRefused('invalid_parts', error.message);
  const isRefused = [400, 404].includes(statusOf(error) ?? 0) && code !== 'NoSuchBucket';
  if (!isRefused && code !== NO_UPLOAD) return undefined;
  return new MultipartRefused('multipart_complete_failed', error.message);
}
