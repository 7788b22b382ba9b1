// Spec: Limits, unindexed-project threshold; Files (filter_unavailable).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  buildLibraryIndex,
  findProjectSize,
  LIBRARY_INDEXES,
} from '../../../runtime/db/library-indexes.ts';
import { runJob } from '../../../runtime/jobs/run-job.ts';
import { manualJobs } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { untilWaiting } from '../../support/lock-waits.ts';
import { makeFile, makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
let jobs: TestJobs;

beforeAll(async () => {
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());
beforeEach(async () => {
  for (const name of Object.keys(LIBRARY_INDEXES)) await db.query(`drop index if exists ${name}`);
});

const run = () => jobs.run(manualJobs['library-indexes']);
const COUNT = Object.keys(LIBRARY_INDEXES).length;

it('the library-indexes job builds missing indexes, rebuilds invalid ones and leaves the others', async () => {
  const project = await makeProject(db);
  for (const file_slug of ['a', 'b']) await makeFile(db, project, { file_slug });
  const size = () => findProjectSize(db, project.project_id);
  expect(await size()).toEqual({ file_rows: 2, is_indexed: false });
  expect(await run()).toEqual({ built: COUNT, there: 0 });
  expect(await size()).toEqual({ file_rows: 2, is_indexed: true });
  expect(await run()).toEqual({ built: 0, there: COUNT });
  await db.query('drop index files_library_names');
  expect(await size()).toMatchObject({ is_indexed: false });
  await db.query(
    `update pg_index set indisvalid = false where indexrelid = 'files_library_taken'::regclass`,
  );
  expect(await run()).toEqual({ built: 2, there: COUNT - 2 });
  expect(await size()).toMatchObject({ is_indexed: true });
});

it('concurrent runs of the library-indexes job build each index once, and do not block writes', async () => {
  const project = await makeProject(db);
  const at = new Date();
  const start = (time: Date) =>
    runJob(jobs.deps, { name: 'library-indexes', job: manualJobs['library-indexes'], at: time });
  const { first } = await db.transaction(async (tx) => {
    // An index is built only once the transactions that may write have ended.
    await tx.query('lock table files in row exclusive mode');
    const building = start(at);
    await untilWaiting(db, 1);
    expect(await start(new Date(at.getTime() + 60_000))).toEqual({ outcome: 'skipped' });
    for (let n = 0; n < 5; n += 1) await makeFile(db, project, { file_slug: `f${n}` });
    return { first: building };
  });
  expect(await first).toEqual({ outcome: 'done', counts: { built: COUNT, there: 0 } });
  expect(await findProjectSize(db, project.project_id)).toEqual({ file_rows: 5, is_indexed: true });
  await expect(buildLibraryIndex(db, 'files_in_order')).rejects.toThrow('no index of libraries');
});

it.each([true, false])(
  'the migration rebuilds the name index of an older version only if it exists: %s',
  async (isThere) => {
    const old = `(project_id, (coalesce(library_id, '')), (lower(coalesce(original_filename, file_slug)) collate "C"), position)`;
    if (isThere)
      await db.query(`create index files_library_names on files ${old} where status <> 'deleted'`);
    await db.query((await readFile(MIGRATION, 'utf8')).split('-- Down Migration')[0] ?? '');
    const migrated = await definition();
    await db.query('drop index if exists files_library_names');
    await buildLibraryIndex(db, 'files_library_names');
    expect(migrated).toEqual(isThere ? await definition() : []);
  },
);

const MIGRATION = new URL(
  '../../../runtime/db/migrations/0074_small_letters_of_names.sql',
  import.meta.url,
);
const definition = () =>
  db.query(`select indexdef from pg_indexes where indexname like 'files_library_names%'`);
