/**
 * Moves an upload whose bytes have arrived from created to uploaded. Called by the complete call, the proxy PUT,
 * storage events, the sweep, and for declared images. The first caller moves it; the others see it moved. Only what the
 * storage reports counts, never a caller's claim. Spec: Upload session (status).
 */
import { ServiceError } from '../core/errors.ts';
import { describeProcessingError } from '../core/image/describe-processing-error.ts';
import type { Database } from '../db/client.ts';
import { findUpload, type UploadRow, updateUploadUploaded } from '../db/uploads.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Log } from '../platform/log.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Bucket, ObjectHead } from '../platform/storage/bucket.ts';
import { checkDigest, findDigestRefusal } from './check-digest.ts';
import { ingestObjectMissing, uploadExpired } from './upload-refusals.ts';

export type CompleteUploadDeps = {
  readonly db: Database;
  readonly buckets: { readonly ingest: Bucket };
  readonly queue: Pick<Queue, 'publish'>;
  readonly log: Log;
  readonly failpoint?: Failpoint;
};

export type CompleteUploadOptions = {
  /**
   * Who compares a declared sha256: this call, which leaves a single-part upload `created` on a
   * mismatch, or the worker, which fails the upload. The worker always compares, over the bytes
   * that it decodes.
   */
  sha256?: 'here' | 'worker';
};

/**
 * Returns the upload's current row. Throws ingest_object_missing, ingest_size_mismatch and
 * sha256_mismatch, which leave it `created` except after joined parts; project_suspended, which
 * also leaves it `created`; upload_expired; and the error_code of a failed upload.
 */
export async function completeUpload(
  deps: CompleteUploadDeps,
  upload: UploadRow,
  options: CompleteUploadOptions = {},
): Promise<UploadRow> {
  if (upload.status !== 'created') return settled(upload);
  try {
    await verifyBytes(deps, upload, options);
  } catch (error) {
    const now = isGone(error) ? await findUpload(deps.db, upload.upload_id) : undefined;
    if (now === undefined || now.status === 'created') throw error;
    return settled(now);
  }
  await deps.failpoint?.('complete.before_commit');
  const moved = await updateUploadUploaded(deps.db, upload.upload_id);
  if (moved === undefined)
    return resolveConflict((await findUpload(deps.db, upload.upload_id)) ?? upload);
  await deps.failpoint?.('complete.committed');
  await notifyIngest(deps, moved.upload_id);
  return moved;
}

async function verifyBytes(
  deps: CompleteUploadDeps,
  upload: UploadRow,
  { sha256 }: CompleteUploadOptions,
): Promise<void> {
  const stored = await findObject(deps.buckets.ingest, upload);
  await deps.failpoint?.('complete.object_found');
  if (sha256 !== 'worker') await checkDigest(deps, upload, stored);
}

/**
 * The object can also be missing because a worker published it, or an abort deleted it, after the
 * caller read the upload.
 */
function isGone(error: unknown): boolean {
  const codes = ['ingest_object_missing', 'upload_expired'];
  return error instanceof ServiceError && codes.includes(error.code);
}

/** A lost doorbell costs seconds, because workers also poll for waiting uploads. */
async function notifyIngest(
  { queue, log }: Pick<CompleteUploadDeps, 'queue' | 'log'>,
  uploadId: string,
): Promise<void> {
  try {
    await queue.publish('ingest', { upload_id: uploadId });
  } catch (error) {
    log.warn('the broker did not accept the doorbell of an upload', { upload_id: uploadId, error });
  }
}

/** Somebody else moved the upload, or its project is suspended, which accepts no bytes. */
function resolveConflict(upload: UploadRow): UploadRow {
  if (upload.status === 'created') throw new ServiceError('project_suspended');
  return settled(upload);
}

/** The result for every caller once the upload has left `created`, whoever moved it. */
function settled(upload: UploadRow): UploadRow {
  if (upload.status === 'expired') throw uploadExpired(upload);
  if (upload.status === 'failed' && upload.error_code !== null) {
    const message = describeProcessingError(upload.error_code, upload.content_type);
    throw (
      findDigestRefusal(upload) ?? new ServiceError({ error_code: upload.error_code }, { message })
    );
  }
  return upload;
}

/** An expired session that nothing has ended yet still accepts bytes that arrived in time. */
async function findObject(ingest: Bucket, upload: UploadRow): Promise<ObjectHead> {
  const head = await ingest.head(upload.ingest_key);
  if (head === undefined) {
    throw upload.is_expired ? uploadExpired(upload) : ingestObjectMissing(upload);
  }
  if (head.size_bytes !== upload.size_bytes) {
    const details = { size_bytes: upload.size_bytes, stored_bytes: head.size_bytes };
    throw new ServiceError('ingest_size_mismatch', { details });
  }
  return head;
}
