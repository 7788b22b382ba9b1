/** Expires an upload: its session in the database of the service, and the token of the upload helper. */
import { signHelperToken, verifyHelperToken } from '../../runtime/core/signing/helper-token.ts';
import { createDatabase } from '../../runtime/db/client.ts';
import type { Instance } from '../contract/support/tintype.ts';

export async function lapseSession({ database_url }: Instance, uploadId: string): Promise<void> {
  const db = createDatabase({ url: database_url, maxConnections: 1 });
  try {
    await db.query(
      `update uploads set created_at = created_at - interval '1 hour',
         expires_at = now() - interval '1 second' where upload_id = $1`,
      [uploadId],
    );
  } finally {
    await db.close();
  }
}

/** Returns the same token with an expiry one second ago. */
export function lapseToken({ api_key }: Instance, token: string): string {
  const verdict = verifyHelperToken(api_key, token, 0);
  if (verdict.outcome === 'invalid_token') throw new Error(`${token} is no token`);
  const { upload_id, state } = verdict;
  return signHelperToken({ api_key, upload_id, exp: Math.floor(Date.now() / 1000) - 1, state });
}
