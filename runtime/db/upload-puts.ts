// Table uploads, bytes that come through the proxy: a PUT that began in time may finish after the session's end. Spec:
// Uploads (proxy).
import { UPLOAD_RATE_BYTES_MIN, UPLOAD_RATE_WINDOW_SECONDS } from '../core/limits.ts';
import type { Queryable } from './client.ts';
import { UPLOAD_COLUMNS, type UploadRow } from './uploads.ts';

/**
 * Records the start of a PUT through the proxy: the session waits for its end, even past its own.
 * Undefined if the session has ended.
 */
export async function updateUploadPutBegan(
  db: Queryable,
  uploadId: string,
): Promise<UploadRow | undefined> {
  const rows = await db.query<UploadRow>(
    `update uploads set put_began_at = now()
     where upload_id = $1 and status = 'created' and expires_at > now() returning ${UPLOAD_COLUMNS}`,
    [uploadId],
  );
  return rows[0];
}

/**
 * Whether the session's time is over, and that of a PUT that began in it, at the minimum accepted
 * rate.
 */
export const UPLOAD_EXPIRED_CONDITION = `expires_at <= now() and (put_began_at is null or now() > put_began_at
  + make_interval(secs => size_bytes::float8 / ${UPLOAD_RATE_BYTES_MIN} + ${UPLOAD_RATE_WINDOW_SECONDS}))`;
