// Spec: Files.
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { type FileStatus, fileStatuses } from '../../../runtime/core/states.ts';
import { listFiles } from '../../../runtime/db/file-lists.ts';
import { useDatabase } from '../../support/database.ts';
import { explaining } from '../../support/explaining.ts';
import { id, makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });
/** Positions span several shelves of 2,048, including both sides of their borders. */
const LAST = 3 * 4096 + 40;
const FILES = 400;
const RUNS = 50;
type File = { file_slug: string; position: number; status: FileStatus };
const files: File[] = [];
let project_id: string;

beforeAll(async () => {
  project_id = (await makeProject(db)).project_id;
  const border = fc.constantFrom(0, 31, 32, 2047, 2048, 2049, 4095, 4096, LAST);
  const position = fc.oneof(border, fc.integer({ min: 1, max: LAST }));
  const made = fc.uniqueArray(
    fc.record({
      position: position.map((at) => Math.max(1, at)),
      file_slug: fc.string({ unit: fc.constantFrom('a', 'b', '-', '.'), maxLength: 4 }),
      status: fc.constantFrom(...fileStatuses),
    }),
    { selector: ({ position: at }) => at, minLength: FILES, maxLength: FILES },
  );
  const rows = fc.sample(made, { numRuns: 1, seed: 7 })[0] ?? [];
  // The slugs of live files must be unique.
  for (const row of rows)
    files.push({ ...row, file_slug: `${row.file_slug.replace(/^[-.]*/, 'a')}-${row.position}` });
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    for (const { file_slug, position: at, status } of files) {
      const file_id = id('file');
      await tx.query(
        `insert into files (file_id, project_id, file_slug, status, revision, size_bytes, position,
           blocked_by, blocked_at, deleted_at)
         values ($1, $2, $3, $4, 1, 1, $5, case when $4 = 'blocked' then 'staff' end,
           case when $4 = 'blocked' then now() end, case when $4 = 'deleted' then now() end)`,
        [file_id, project_id, file_slug, status, at],
      );
      await tx.query(
        `insert into file_revisions (file_id, revision, upload_id, object_key, content_type, size_bytes, sha256,
           source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless, dominant_color)
         values ($1, 1, $1, $1, 'image/png', 1, repeat('0', 64), 'image/png', 1, repeat('0', 64), 1, 1, false, false, '#336699')`,
        [file_id],
      );
    }
  });
});

function expected({ status, q }: { status: FileStatus | null; q: string | null }): number[] {
  return files
    .filter((file) => (status === null ? file.status !== 'deleted' : file.status === status))
    .filter(({ file_slug }) => file_slug.startsWith(q ?? ''))
    .map(({ position }) => position)
    .toSorted((a, b) => b - a);
}

const filter = fc.record({
  status: fc.option(fc.constantFrom(...fileStatuses)),
  q: fc.option(
    fc.string({ unit: fc.constantFrom('a', 'b', '-', '.', '1', '%', '_', '~', 'é'), maxLength: 3 }),
  ),
});

it('a paged file list holds every matching file once, newest first, for any page size', async () => {
  const limit = fc.integer({ min: 1, max: 100 });
  await fc.assert(
    fc.asyncProperty(filter, limit, async ({ status, q }, size) => {
      const found: number[] = [];
      let after: readonly string[] | null = null;
      do {
        const page = await listFiles(db, { project_id, status, q, limit: size, after });
        expect(page.rows.length).toBeLessThanOrEqual(size);
        found.push(...page.rows.map(({ position }) => position));
        after = page.next;
      } while (after !== null);
      expect(found).toEqual(expected({ status, q }));
    }),
    { numRuns: RUNS },
  );
});

it('the list of a slug that was uploaded and deleted thousands of times reads few rows', async () => {
  const busy = (await makeProject(db)).project_id;
  const { limit, deleted } = { limit: 1, deleted: 2000 };
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `with made as (
         insert into files (file_id, project_id, file_slug, status, revision, size_bytes, position, created_at, deleted_at)
         select $1 || lpad(n::text, 6, '0'), $2, 'latest.png', case when n > $3 then 'ready' else 'deleted' end,
           1, 1, n, now() - interval '1 day' + n * interval '1 second', case when n <= $3 then now() end
         from generate_series(1, $3 + 1) n returning file_id)
       insert into file_revisions (file_id, revision, upload_id, object_key, content_type, size_bytes, sha256,
         source_content_type, source_size_bytes, source_sha256, width, height, has_alpha, is_lossless, dominant_color)
       select file_id, 1, file_id, file_id, 'image/png', 1, repeat('0', 64), 'image/png', 1, repeat('0', 64), 1, 1, false, false, '#336699'
       from made`,
      [id('file').slice(0, -6), busy, deleted],
    );
  });
  await db.query('analyze files');
  const { db: explained, explained: read } = explaining(db, ['files']);
  for (const [status, position] of [
    [null, deleted + 1],
    ['deleted', deleted],
  ] as const) {
    const query = { project_id: busy, status, q: 'latest.png', limit, after: null };
    const { rows } = await listFiles(explained, query);
    expect(rows).toMatchObject([{ position }]);
    const rows_read = read.splice(0).reduce((sum, one) => sum + one.rows_read, 0);
    expect(rows_read).toBeLessThanOrEqual(3 * limit + 50);
  }
});

it('the list of a project without files is empty', async () => {
  const empty = (await makeProject(db)).project_id;
  for (const q of [null, 'a']) {
    const page = await listFiles(db, { project_id: empty, status: null, q, limit: 5, after: null });
    expect(page).toEqual({ rows: [], next: null });
  }
});
