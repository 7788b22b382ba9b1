/**
 * Creates an upload from the picker: proxied through the service, with a generated slug, in the session's place, and
 * within the session's upload limit, which is counted across all processes. Spec: Library sessions and the picker;
 * Limits.
 */
import { ServiceError } from '../core/errors.ts';
import { LIBRARY_SESSION_PUT_LIFETIME_SECONDS_MAX } from '../core/limits.ts';
import type { CreateLibraryUpload } from '../core/resources/library-session.ts';
import type { LibrarySessionClaims } from '../core/signing/library-session.ts';
import { joinTransaction } from '../db/joined-transaction.ts';
import { lockSessionUploads } from '../db/library-sessions.ts';
import type { ProjectRow } from '../db/projects.ts';
import { type CreateUploadDeps, createUpload, type NewUploadSession } from './create-upload.ts';
import { uploadersOf } from './library-session-status.ts';

export type LibraryUpload = {
  claims: LibrarySessionClaims;
  project: ProjectRow;
  input: CreateLibraryUpload;
};

/**
 * Throws file_too_large, session_upload_limit, session_revoked, session_expired; as createUpload.
 */
export async function createLibraryUpload(
  deps: CreateUploadDeps,
  { claims, project, input }: LibraryUpload,
): Promise<NewUploadSession> {
  const { max_file_bytes: max_bytes, max_uploads, session_id } = claims;
  if (input.size_bytes > max_bytes)
    throw new ServiceError('file_too_large', { details: { max_bytes } });
  const { content_type, size_bytes, title, original_filename } = input;
  const from = {
    library_id: claims.library_id,
    folder: claims.folder,
    title,
    original_filename,
    uploader: uploadersOf(claims)[0] ?? null,
    library_session_id: session_id,
  };
  return deps.db.transaction(async (tx) => {
    if ((await lockSessionUploads(tx, session_id)) >= max_uploads) {
      throw new ServiceError('session_upload_limit');
    }
    const through = { ...deps, db: joinTransaction(tx) };
    const asked = { content_type, size_bytes, mode: 'proxy' as const };
    // Computed after the transaction began: the upload's lifetime starts at the transaction's time
    // and must not outlast the token.
    const lifetime_seconds = lifetimeOf(claims, deps.clock.now());
    return createUpload(through, { project, input: asked, from: { ...from, lifetime_seconds } });
  });
}

/** Throws session_expired if the token expired while this call waited for others of its session. */
function lifetimeOf({ exp }: LibrarySessionClaims, now: Date): number {
  // The database rounds to whole milliseconds; one is subtracted to stay below the limit.
  const remaining_seconds = exp - (now.getTime() + 1) / 1000;
  if (remaining_seconds <= 0) throw new ServiceError('session_expired');
  return Math.min(LIBRARY_SESSION_PUT_LIFETIME_SECONDS_MAX, remaining_seconds);
}
