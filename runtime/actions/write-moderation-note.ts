/** Writes a moderation note on a live file, with its audit entry in one transaction. Spec: Files, moderation-notes. */
import { ServiceError } from '../core/errors.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database } from '../db/client.ts';
import { lockLiveFile } from '../db/files.ts';
import {
  findModerationNote,
  type ModerationNoteRow,
  upsertModerationNote,
} from '../db/moderation-notes.ts';

type NewNote = {
  project_id: string;
  file_slug: string;
  note: string;
  /** The author's subject. */
  author: string;
  actor: Actor;
};

/** Throws file_not_found. */
export async function writeModerationNote(
  db: Database,
  { actor, ...note }: NewNote,
): Promise<ModerationNoteRow> {
  const { project_id, file_slug } = note;
  return db.transaction(async (tx) => {
    // Locked, so that of two concurrent notes the second knows which one it replaces.
    const file = await lockLiveFile(tx, note);
    if (file === undefined) throw new ServiceError('file_not_found');
    const before = await findModerationNote(tx, note);
    const row = await upsertModerationNote(tx, note);
    await insertAuditEntry(tx, {
      project_id,
      ...actor,
      action: before ? 'moderation_note.replace' : 'moderation_note.create',
      target: file.file_id,
      before: before && { file_slug, note: before.note, author: before.author },
      after: { file_slug, note: row.note, author: row.author },
    });
    return row;
  });
}
