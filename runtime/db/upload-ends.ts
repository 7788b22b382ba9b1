// Table uploads: the ends without a file. The statement that ends the upload also returns its storage reservation and
// dooms the ingest object. Spec: States and transitions, Upload session.
import type { ProcessingErrorCode } from '../core/errors.ts';
import { additionalUploadMoves, statesBefore, uploadMoves } from '../core/states.ts';
import type { Transaction } from './client.ts';
import { UPLOAD_EXPIRED_CONDITION } from './upload-puts.ts';
import { UPLOAD_COLUMNS, type UploadRow } from './uploads.ts';

/** created → expired once its time is over. */
export const updateUploadExpired = endOfCreated({
  from: statesBefore(uploadMoves, 'expire'),
  is_due_by_time: true,
  status: 'expired',
  error_code: 'session_expired',
});

/** created → expired because the caller aborts it. */
export const updateUploadAborted = endOfCreated({
  from: statesBefore(additionalUploadMoves, 'abort'),
  is_due_by_time: false,
  status: 'expired',
  error_code: 'session_expired',
});

/** created → failed at its expiry, because the stored object has another size. */
export const updateUploadWrongSize = endOfCreated({
  from: statesBefore(additionalUploadMoves, 'expire_wrong_size'),
  is_due_by_time: true,
  status: 'failed',
  error_code: 'ingest_size_mismatch',
});

/** created → failed, because the joined parts have another digest and cannot be sent again. */
export const updateUploadWrongDigest = endOfCreated({
  from: statesBefore(additionalUploadMoves, 'refuse_joined'),
  is_due_by_time: false,
  status: 'failed',
  error_code: 'sha256_mismatch',
});

type EndOfCreated = Pick<UploadEnd, 'status' | 'error_code'> & {
  from: readonly string[];
  is_due_by_time: boolean;
};

/** Undefined if the upload is in another state, or not due yet. */
function endOfCreated({ from, is_due_by_time, ...end }: EndOfCreated) {
  const condition = `upload_id = $1 and status = any($2) and ${is_due_by_time ? UPLOAD_EXPIRED_CONDITION : 'true'}`;
  return (tx: Transaction, uploadId: string): Promise<UploadRow | undefined> =>
    endUpload(tx, { condition, values: [uploadId, from], ...end });
}

export type UploadEnd = {
  /** Which upload, if it is still in the right state: SQL over $1, $2 and $3. */
  condition: string;
  values: readonly unknown[];
  status: 'failed' | 'expired';
  error_code: ProcessingErrorCode;
};

/**
 * Ends an upload without a file: returns its reservation and dooms its object, in the same
 * statement.
 */
export async function endUpload(tx: Transaction, end: UploadEnd): Promise<UploadRow | undefined> {
  const base = end.values.length;
  const rows = await tx.query<UploadRow>(
    `with ended as (
       update uploads set status = $${base + 1}, error_code = $${base + 2}, lease_until = null, updated_at = now()
       where ${end.condition} returning ${UPLOAD_COLUMNS}
     ), ${RELEASED_FROM_ENDED}
     select * from ended`,
    [...end.values, end.status, end.error_code],
  );
  return rows[0];
}

/**
 * Follows `ended` in a WITH: returns its reservation and dooms its ingest object. A presigned PUT
 * can bring the object back until it expires, so the object is deleted after that.
 */
export const RELEASED_FROM_ENDED = `released as (
  update projects set reserved_bytes = projects.reserved_bytes - ended.size_bytes
  from ended where projects.project_id = ended.project_id
), doomed as (
  insert into doomed_objects (bucket, object_key, delete_after)
  select 'ingest', ingest_key, greatest(now(), expires_at) from ended
  on conflict (bucket, object_key) do nothing
)`;
