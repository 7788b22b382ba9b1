// Pages of moderation notes read about as many rows as they show, in a large table. Spec: Files, moderation-notes.
import { beforeAll, expect, it } from 'vitest';
import { listModerationNotes } from '../../../runtime/db/moderation-notes.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { useDatabase } from '../../support/database.ts';
import { explaining } from '../../support/explaining.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });
const LIMIT = 20;
let busy: ProjectRow;
let quiet: ProjectRow;

/** Most notes belong to one project; those of the other project are much older. */
beforeAll(async () => {
  [busy, quiet] = [await makeProject(db), await makeProject(db)];
  const notes = ({ project_id }: ProjectRow, from: number, count: number) =>
    db.query(
      `insert into moderation_notes (project_id, file_slug, note, author, created_at)
       select $1, 'f' || n, 'a note', 'somebody', now() - n * interval '1 second'
       from generate_series($2::int, $3::int) n`,
      [project_id, from, from + count - 1],
    );
  await notes(busy, 1, 20_000);
  await notes(quiet, 19_990, 200);
  await db.query('analyze');
}, 120_000);

const nothing = { project_slug: null, file_slug: null };

it.each([
  ['all', () => ({}), LIMIT],
  ['a project that has most', () => ({ project_slug: busy.project_slug }), LIMIT],
  ['a project that has few, of long ago', () => ({ project_slug: quiet.project_slug }), LIMIT],
  ['a slug that two projects have', () => ({ file_slug: 'f19995' }), 2],
  ['one file', () => ({ project_slug: quiet.project_slug, file_slug: 'f19995' }), 1],
])(
  'a page of the moderation notes of %s reads few rows, and so does the next page',
  async (_what, filters, count) => {
    const { db: explainedDb, explained } = explaining(db, ['moderation_notes']);
    const asked = { ...nothing, ...filters(), limit: LIMIT };
    const first = await listModerationNotes(explainedDb, { ...asked, after: null });
    expect(first.rows).toHaveLength(count);
    if (first.next !== null) {
      const second = await listModerationNotes(explainedDb, { ...asked, after: first.next });
      expect(second.rows).toHaveLength(LIMIT);
    }
    for (const { rows_read } of explained) expect(rows_read).toBeLessThanOrEqual(2 * LIMIT);
  },
);
