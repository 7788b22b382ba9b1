/**
 * Cancels an upload session before its bytes are accepted: it expires at once, its reserved room is released, and its
 * parts and object are deleted. Spec: Uploads (abort).
 */
import { ServiceError } from '../core/errors.ts';
import type { Database } from '../db/client.ts';
import { updateUploadAborted } from '../db/upload-ends.ts';
import { findUpload, type UploadRow } from '../db/uploads.ts';
import type { Log } from '../platform/log.ts';
import type { Bucket } from '../platform/storage/bucket.ts';
import { deleteObject } from './delete-object.ts';

type AbortDeps = {
  readonly db: Database;
  readonly buckets: { readonly ingest: Bucket };
  readonly log: Log;
};

/**
 * Returns the upload, now `expired`; an expired one is returned unchanged. Throws
 * upload_not_pending in any other state.
 */
export async function abortUpload(deps: AbortDeps, upload: UploadRow): Promise<UploadRow> {
  const aborted = await deps.db.transaction((tx) => updateUploadAborted(tx, upload.upload_id));
  if (aborted !== undefined) {
    await abortParts(deps, aborted);
    await deleteObject(deps, deps.buckets.ingest, { object_key: aborted.ingest_key });
    return aborted;
  }
  const now = (await findUpload(deps.db, upload.upload_id)) ?? upload;
  if (now.status === 'expired') return now;
  throw new ServiceError('upload_not_pending', { details: { status: now.status } });
}

type Cleaning = Pick<AbortDeps, 'buckets' | 'log'>;

/** Deletes what it can now; the sweep finds the rest. */
export async function abortParts(
  { buckets, log }: Cleaning,
  { ingest_key, storage_upload_id }: Pick<UploadRow, 'ingest_key' | 'storage_upload_id'>,
): Promise<void> {
  if (storage_upload_id === null) return;
  try {
    await buckets.ingest.abortMultipart(ingest_key, storage_upload_id);
  } catch (error) {
    log.warn('the parts of an upload could not be deleted', { object_key: ingest_key, error });
  }
}
