/** What callers are told of an upload whose bytes are not there. Spec: Upload session (status). */
import { ServiceError } from '../core/errors.ts';
import type { UploadRow } from '../db/uploads.ts';

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

export function missing({ expires_at }: UploadRow): ServiceError {
  const details = { expires_at: expires_at.toISOString() };
  return new ServiceError('ingest_object_missing', { details });
}
