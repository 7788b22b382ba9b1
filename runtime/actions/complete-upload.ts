/**
 * The bytes of an upload are there: created → uploaded. Called by the complete call, by the proxy PUT, on a
 * storage event, by the sweep, and for a declared image; whoever comes first moves it, the others see it moved. What
 * the storage says decides, never what a caller says. Spec: Upload session (status).
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { ServiceError } from '../core/errors.ts';
import { sayFailure } from '../core/image/failure-sentences.ts';
import type { Database } from '../db/client.ts';
import { findUpload, type UploadRow, updateUploadUploaded } from '../db/uploads.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Log } from '../platform/log.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Bucket } from '../platform/storage/bucket.ts';

export type CompleteUploadDeps = {
  readonly db: Database;
  readonly buckets: { readonly ingest: Bucket };
  readonly queue: Pick<Queue, 'publish'>;
  readonly log: Log;
  readonly failpoint?: Failpoint;
};

export type CompleteUploadOptions = {
  /**
   * Who compares a declared sha256: this call, which leaves the upload `created` when it differs, or the
   * worker, which then ends it as failed. The worker compares in any case, over the bytes that it decodes.
   */
  sha256?: 'here' | 'worker';
};

/**
 * Returns the upload as it is now. Throws ingest_object_missing, ingest_size_mismatch or sha256_mismatch, which
 * leave it `created`; upload_expired for an expired one, and a failed one's own error_code.
 */
export async function completeUpload(
  deps: CompleteUploadDeps,
  upload: UploadRow,
  options: CompleteUploadOptions = {},
): Promise<UploadRow> {
  if (upload.status !== 'created') return settled(upload);
  await checkObject(deps.buckets.ingest, upload);
  await deps.failpoint?.('complete.object_found');
  if (upload.sha256 !== null && options.sha256 !== 'worker') {
    await checkDigest(deps.buckets.ingest, upload);
  }
  await deps.failpoint?.('complete.before_commit');
  const moved = await updateUploadUploaded(deps.db, upload.upload_id);
  if (moved === undefined) return settled((await findUpload(deps.db, upload.upload_id)) ?? upload);
  await deps.failpoint?.('complete.committed');
  await ringIngest(deps, moved.upload_id);
  return moved;
}

/** A lost doorbell costs a minute: the sweep rings for what waits. */
async function ringIngest(
  { queue, log }: Pick<CompleteUploadDeps, 'queue' | 'log'>,
  uploadId: string,
): Promise<void> {
  try {
    await queue.publish('ingest', { upload_id: uploadId });
  } catch (error) {
    log.warn('the doorbell of an upload was not taken', { upload_id: uploadId, error });
  }
}

/** What every caller gets once the upload has left `created`, whoever moved it. */
function settled(upload: UploadRow): UploadRow {
  if (upload.status === 'expired') throw expired(upload);
  if (upload.status === 'failed' && upload.error_code !== null) {
    const message = sayFailure(upload.error_code, upload.content_type);
    throw new ServiceError({ error_code: upload.error_code }, { message });
  }
  return upload;
}

const ABORTED = 'The upload was aborted at details.expires_at. Create a new one.';

/** The end of a session without bytes; an aborted one ended before its time. */
export function expired({ expires_at, updated_at, is_expired }: UploadRow): ServiceError {
  const ended = is_expired ? expires_at : updated_at;
  const details = { expires_at: ended.toISOString() };
  return new ServiceError(
    'upload_expired',
    is_expired ? { details } : { message: ABORTED, details },
  );
}

async function checkObject(ingest: Bucket, upload: UploadRow): Promise<void> {
  const isMultipart = upload.storage_upload_id !== null;
  if (isMultipart && upload.is_expired) throw expired(upload);
  const head = await ingest.head(upload.ingest_key);
  if (head === undefined) {
    throw upload.is_expired ? expired(upload) : missing(upload);
  }
  if (head.size_bytes !== upload.size_bytes) {
    const details = { size_bytes: upload.size_bytes, stored_bytes: head.size_bytes };
    throw new ServiceError('ingest_size_mismatch', { details });
  }
}

async function checkDigest(ingest: Bucket, upload: UploadRow): Promise<void> {
  const body = await ingest.open(upload.ingest_key);
  if (body === undefined) throw missing(upload);
  const stored_sha256 = await sha256Of(body);
  const { sha256 } = upload;
  if (stored_sha256 === sha256) return;
  throw new ServiceError('sha256_mismatch', { details: { sha256, stored_sha256 } });
}

function missing({ expires_at }: UploadRow): ServiceError {
  const details = { expires_at: expires_at.toISOString() };
  return new ServiceError('ingest_object_missing', { details });
}

async function sha256Of(body: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of body) hash.update(chunk);
  return hash.digest('hex');
}
