/**
 * Deletes a file for good, with all consequences, in one transaction: counters, purge, watermark presets that use it,
 * audit. Its bytes are deleted after a grace period. Spec: States and transitions, File.
 */
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { deleteFile as deleteFileRow } from '../db/file-revisions.ts';
import { hasDeletedFile } from '../db/files.ts';
import { removeFileReferences } from './remove-file-references.ts';

export type Deletion = { project_id: string; file_slug: string; actor: Actor };

/** `never_existed`: no file ever had the slug. Deleting a file again changes nothing. */
export async function deleteFile(
  db: Database,
  deletion: Deletion,
): Promise<'deleted' | 'deleted_before' | 'never_existed'> {
  return db.transaction(async (tx) => {
    if (await deleteLiveFile(tx, deletion)) return 'deleted';
    return (await hasDeletedFile(tx, deletion)) ? 'deleted_before' : 'never_existed';
  });
}

async function deleteLiveFile(
  tx: Transaction,
  { project_id, file_slug, actor }: Deletion,
): Promise<boolean> {
  const file = await deleteFileRow(tx, { project_id, file_slug });
  if (file === undefined) return false;
  const { file_id, revision, blocked_by } = file;
  const watermark_preset_ids = await removeFileReferences(tx, file, {
    reason: 'file_deleted',
    actor,
  });
  await insertAuditEntry(tx, {
    project_id,
    ...actor,
    action: 'file.delete',
    target: file_id,
    before: { file_slug, revision, blocked_by },
    after: { watermark_preset_ids },
  });
  return true;
}
