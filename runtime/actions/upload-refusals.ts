/** What callers are told of an upload whose bytes are not there. Spec: Upload session (status). */
import { ServiceError } from '../core/errors.ts';
import type { UploadRow } from '../db/uploads.ts';

const ABORTED = 'The upload was aborted at details.expires_at. Create a new one.';

/** The end of a session without bytes; an aborted one ended before its time, and says so for ever. */
export function expired({ status, expires_at, updated_at }: UploadRow): ServiceError {
  const isAborted = status === 'expired' && updated_at < expires_at;
  const ended = isAborted ? updated_at : expires_at;
  const details = { expires_at: ended.toISOString() };
  return new ServiceError(
    'upload_expired',
    isAborted ? { message: ABORTED, details } : { details },
  );
}

export function missing({ expires_at }: UploadRow): ServiceError {
  const details = { expires_at: expires_at.toISOString() };
  return new ServiceError('ingest_object_missing', { details });
}
