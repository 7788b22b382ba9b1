/** Errors for an upload whose bytes are missing. Spec: Upload session (status). */
import { ServiceError } from '../core/errors.ts';
import type { UploadRow } from '../db/uploads.ts';

const ABORTED = 'The upload was aborted at details.expires_at. Create a new one.';

/** The error of a session that ended without bytes; an aborted one keeps its early end. */
export function uploadExpired({ status, expires_at, updated_at }: UploadRow): ServiceError {
  const isAborted = status === 'expired' && updated_at < expires_at;
  const ended = isAborted ? updated_at : expires_at;
  const details = { expires_at: ended.toISOString() };
  return new ServiceError(
    'upload_expired',
    isAborted ? { message: ABORTED, details } : { details },
  );
}

export function ingestObjectMissing({ expires_at }: UploadRow): ServiceError {
  const details = { expires_at: expires_at.toISOString() };
  return new ServiceError('ingest_object_missing', { details });
}
