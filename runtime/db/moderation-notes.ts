// Table moderation_notes: one note per project and file slug. Spec: Files, moderation-notes.
import type { Queryable } from './client.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';
import { onlyRow } from './rows.ts';

export type ModerationNoteRow = {
  project_id: string;
  file_slug: string;
  note: string;
  /** Subject of the last author. */
  author: string;
  created_at: Date;
  updated_at: Date;
};

type NoteOfFile = Pick<ModerationNoteRow, 'project_id' | 'file_slug'>;
type NewModerationNote = Omit<ModerationNoteRow, 'created_at' | 'updated_at'>;

/**
 * Writes the note in place of the previous one, with a new time: it comes first in a list of the
 * newest.
 */
export async function upsertModerationNote(
  db: Queryable,
  { project_id, file_slug, note, author }: NewModerationNote,
): Promise<ModerationNoteRow> {
  const [row] = await db.query<ModerationNoteRow>(
    `insert into moderation_notes (project_id, file_slug, note, author) values ($1, $2, $3, $4)
     on conflict (project_id, file_slug) do update set note = excluded.note,
       author = excluded.author, created_at = now(), updated_at = now()
     returning *`,
    [project_id, file_slug, note, author],
  );
  return onlyRow(row);
}

export async function findModerationNote(
  db: Queryable,
  { project_id, file_slug }: NoteOfFile,
): Promise<ModerationNoteRow | undefined> {
  const rows = await db.query<ModerationNoteRow>(
    'select * from moderation_notes where project_id = $1 and file_slug = $2',
    [project_id, file_slug],
  );
  return rows[0];
}

/** Newest first, across projects; of one project, one slug, or all if null. */
export function listModerationNotes(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & { project_slug: string | null; file_slug: string | null },
): Promise<Page<ListedNote>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

type ListedNote = ModerationNoteRow & { project_slug: string };

const LIST: FilteredList<ListedNote, 'project_slug' | 'file_slug'> = {
  select: 'select n.*, p.project_slug from moderation_notes n join projects p using (project_id)',
  conditions: {
    // By the id: its index is in the order of the list, so that a full page ends the scan.
    project_slug: (value) =>
      `n.project_id = (select project_id from projects where project_slug = ${value})`,
    file_slug: (value) => `n.file_slug = ${value}`,
  },
  order: ['n.created_at', `(n.project_id || '/' || n.file_slug)`],
  idOf: ({ project_id, file_slug }) => `${project_id}/${file_slug}`,
};
