// What the scanner blocked in a project of many files that were all checked: they alone are read. Spec: Staff (projects).
import { expect, it } from 'vitest';
import { listUnreviewedBlocks } from '../../../runtime/db/scanner-checks.ts';
import { useDatabase } from '../../support/database.ts';
import { explaining } from '../../support/explaining.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });
const FILES = 20_000;
const BLOCKED = 10;

it('reads as much as was blocked, however many files there are', async () => {
  const { project_id } = await makeProject(db);
  const file = `'file_' || lpad(n::text, 26, '0')`;
  await db.transaction(async (tx) => {
    // What is inserted fits: its triggers and references need not be asked.
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `insert into files (file_id, project_id, file_slug, status, revision, size_bytes, position, blocked_by, blocked_at)
       select ${file}, $1, 'f' || n, case when is_blocked then 'blocked' else 'ready' end, 1, 1, n,
         case when is_blocked then 'scanner' end, case when is_blocked then now() end
       from generate_series(1, $2::int) n, lateral (select n % ($2::int / $3::int) = 7 as is_blocked) it`,
      [project_id, FILES, BLOCKED],
    );
    await tx.query(
      `insert into scanner_checks (check_id, project_id, file_id, revision, status, flags, scanned_at, review)
       select 'chk_' || lpad(n::text, 26, '0'), $1, ${file}, 1, 'flagged', array['nudity'], now(),
         case when n % 2 = 0 then 'rejected' else 'unreviewed' end
       from generate_series(1, $2::int) n`,
      [project_id, FILES],
    );
  });
  await db.query('analyze');
  const { db: told, explained } = explaining(db, ['files', 'scanner_checks']);
  expect(await listUnreviewedBlocks(told, project_id)).toHaveLength(BLOCKED);
  expect(explained).toHaveLength(1);
  expect(explained[0]?.rows_read).toBeLessThanOrEqual(10 * BLOCKED);
});
