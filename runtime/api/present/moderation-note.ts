/** A moderation note's row as the API answers it. Spec: Files, moderation-notes. */
import type { ModerationNoteRecord } from '../../core/resources/file.ts';
import type { ModerationNoteRow } from '../../db/moderation-notes.ts';

export function presentModerationNote(
  { file_slug, note, author, created_at, updated_at }: ModerationNoteRow,
  project_slug: string,
): ModerationNoteRecord {
  return {
    project_slug,
    file_slug,
    note,
    author,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
