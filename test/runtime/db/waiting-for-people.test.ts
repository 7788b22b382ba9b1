import { expect, it } from 'vitest';
import { countOverQuota } from '../../../runtime/db/organizations.ts';
import { countChecksUnreviewed, countChecksWaiting } from '../../../runtime/db/scan-claims.ts';
import { useDatabase } from '../../support/database.ts';
import { makeCheck, makeFile, makeOrganization, makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });

it('flagged checks count as waiting for a moderator until one has reviewed them', async () => {
  await db.query('delete from scanner_checks');
  expect(await countChecksUnreviewed(db)).toEqual({ count: 0, oldest_seconds: 0 });
  const project = await makeProject(db);
  await makeCheck(db, await makeFile(db, project), []);
  const flagged = () => makeFile(db, project);
  const first = await makeCheck(db, await flagged());
  const second = await makeCheck(db, await flagged());
  await db.query(
    `update scanner_checks set created_at = now() - interval '90 seconds' where check_id = $1`,
    [first],
  );
  const { count, oldest_seconds } = await countChecksUnreviewed(db);
  // Not exactly 90: clocks are occasionally set back slightly.
  expect([count, oldest_seconds > 89]).toEqual([2, true]);
  expect((await countChecksWaiting(db)).count).toBe(0);
  await db.query(`update scanner_checks set review = 'approved' where check_id = $1`, [first]);
  expect((await countChecksUnreviewed(db)).count).toBe(1);
  await db.query(`update scanner_checks set review = 'rejected' where check_id = $1`, [second]);
  expect(await countChecksUnreviewed(db)).toEqual({ count: 0, oldest_seconds: 0 });
});

it('organizations over quota are counted, trials and paying ones separately', async () => {
  await db.query('truncate organizations cascade');
  expect(await countOverQuota(db)).toEqual({ trial: 0, paid: 0 });
  await makeOrganization(db);
  for (const plan of ['trial', 'starter', 'growth']) {
    const { organization_id } = await makeOrganization(db);
    await db.query(
      'update organizations set plan = $2, quota_exceeded_at = now() where organization_id = $1',
      [organization_id, plan],
    );
  }
  expect(await countOverQuota(db)).toEqual({ trial: 1, paid: 2 });
});

it('paying organizations over quota are counted despite many trials, and counts stop at 10,000', async () => {
  await db.query('truncate organizations cascade');
  const make = (plan: string, count: number) =>
    db.query(
      `insert into organizations (organization_id, name, plan, quota_exceeded_at)
       select 'org_' || lpad($1 || n, 26, '0'), $1, $1, now() from generate_series(1, $2::int) n`,
      [plan, count],
    );
  await make('trial', 10_001);
  for (const plan of ['growth', 'vip']) await make(plan, 1);
  expect(await countOverQuota(db)).toEqual({ trial: 10_000, paid: 2 });
  await make('growth2', 10_001);
  expect(await countOverQuota(db)).toEqual({ trial: 10_000, paid: 10_000 });
});
