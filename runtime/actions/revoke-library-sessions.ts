/** Revokes library sessions before they expire: those of one subject, or all of a project. Our addition to Rules 6. */
import { LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS } from '../core/limits.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database } from '../db/client.ts';
import { upsertRevocation } from '../db/library-sessions.ts';
import { requirePseudonyms } from './require-pseudonyms.ts';

type RevokeDeps = { db: Database; libraryKeys: { readonly subjects: readonly Uint8Array[] } };
type Revoke = { project_id: string; subject: string | undefined; actor: Actor };

/** Throws invalid_subject and subject_key_unavailable. */
export async function revokeLibrarySessions(
  { db, libraryKeys }: RevokeDeps,
  { project_id, subject, actor }: Revoke,
): Promise<{ revoked_at: string; mint_again_at: string }> {
  const uploaders =
    subject === undefined ? null : requirePseudonyms(libraryKeys, { project_id, subject });
  const revoked_at = await db.transaction(async (tx) => {
    const at = await upsertRevocation(tx, { project_id, uploaders });
    await insertAuditEntry(tx, {
      ...actor,
      project_id,
      action: 'library_session.revoke',
      after: { of: subject === undefined ? 'everybody' : 'one subject' },
    });
    return at;
  });
  const again = revoked_at.getTime() + LIBRARY_SESSIONS_REVOKED_PAUSE_SECONDS * 1000;
  return { revoked_at: revoked_at.toISOString(), mint_again_at: new Date(again).toISOString() };
}
