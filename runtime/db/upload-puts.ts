// Table uploads, bytes that come through the proxy: a PUT that began in time may finish behind the session's end.
// Spec: Uploads (proxy).
import { UPLOAD_RATE_BYTES_MIN, UPLOAD_RATE_WINDOW_SECONDS } from '../core/limits.ts';
import type { Queryable } from './client.ts';
import { UPLOAD_COLUMNS, type UploadRow } from './uploads.ts';

/**
 * Lets bytes begin to come through the proxy: the session waits for their end, also behind its own. Undefined where it
 * has ended.
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

/** The session's time, and that of a PUT that began in it: at the least rate that is let pass. */
export const TIME_IS_OVER = `expires_at <= now() and (put_began_at is null or now() > put_began_at
  + make_interval(secs => size_bytes::float8 / ${UPLOAD_RATE_BYTES_MIN} + ${UPLOAD_RATE_WINDOW_SECONDS}))`;
