// Listing the files that the scanner blocked reads those files only, in a project where every file was checked. Spec:
// Staff (projects).
import { expect, it } from 'vitest';
import { newId } from '../../../runtime/core/ids.ts';
import { listUnreviewedBlocks } from '../../../runtime/db/scanner-checks.ts';
import { useDatabase } from '../../support/database.ts';
import { explaining } from '../../support/explaining.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });

type Checked = { count: number; blocked: string; rejected: string };

/**
 * A project of checked files; `blocked` and `rejected` are SQL conditions on a file's number `n`.
 */
async function makeChecked({ count, blocked, rejected }: Checked): Promise<string> {
  const { project_id } = await makeProject(db);
  const number = (prefix: 'file' | 'chk') =>
    `'${newId(prefix, Date.now()).slice(0, -8)}' || lpad(n::text, 8, '0')`;
  const file = number('file');
  await db.transaction(async (tx) => {
    // The rows are consistent: skip triggers and foreign keys.
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into files (file_id, project_id, file_slug, status, revision, size_bytes, position, blocked_by, blocked_at)
       select ${file}, $1, 'f' || n, case when ${blocked} then 'blocked' else 'ready' end, 1, 1, n,
         case when ${blocked} then 'scanner' end, case when ${blocked} then now() end
       from generate_series(1, $2::int) n`,
      [project_id, count],
    );
    await tx.query(
      `insert into scanner_checks (check_id, project_id, file_id, revision, status, flags, scanned_at, review)
       select ${number('chk')}, $1, ${file}, 1, 'flagged', array['nudity'], now(),
         case when ${rejected} then 'rejected' else 'unreviewed' end
       from generate_series(1, $2::int) n`,
      [project_id, count],
    );
  });
  return project_id;
}

async function countReads(project_id: string): Promise<{ found: number; rows_read: number }> {
  const { db: explainedDb, explained } = explaining(db, ['files', 'scanner_checks']);
  const found = (await listUnreviewedBlocks(explainedDb, project_id)).length;
  return { found, rows_read: explained.reduce((sum, each) => sum + each.rows_read, 0) };
}

it('listing unreviewed blocks reads each row only a few times even with outdated statistics', async () => {
  await db.query('truncate files cascade');
  for (let n = 0; n < 30; n += 1)
    await makeChecked({ count: 1, blocked: 'true', rejected: 'true' });
  for (const table of ['files', 'scanner_checks']) {
    await db.query(`alter table ${table} set (autovacuum_enabled = false)`);
    await db.query(`vacuum analyze ${table}`);
  }
  const count = 1_000;
  const project_id = await makeChecked({ count, blocked: 'true', rejected: 'n > 10' });
  const { found, rows_read } = await countReads(project_id);
  expect(found).toBe(10);
  expect(rows_read).toBeLessThanOrEqual(10 * count);
});

it('listing unreviewed blocks reads only what was blocked, however many files there are', async () => {
  const blocked = 'n % 2000 = 7';
  const project_id = await makeChecked({ count: 20_000, blocked, rejected: 'n % 2 = 0' });
  await db.query('analyze');
  const { found, rows_read } = await countReads(project_id);
  expect(found).toBe(10);
  expect(rows_read).toBeLessThanOrEqual(100);
});
