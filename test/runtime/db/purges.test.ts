// Spec: Caching and response headers.
import { expect, it } from 'vitest';
import {
  claimPurges,
  countPurgesWaiting,
  insertPurges,
  updatePurgesFailed,
  updatePurgesSent,
} from '../../../runtime/db/purges.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const REPEAT_SECONDS = 20;

it('the repeat of a purge is timed from the change, however long its transaction had waited', async () => {
  const { project_id } = await makeProject(db);
  const late = await db.transaction(async (tx) => {
    // Simulates waiting for a lock. The time is truncated to milliseconds, as stored times are.
    const waited = `select date_trunc('milliseconds', clock_timestamp())::text as moment
      where clock_timestamp() > now() + interval '20 milliseconds'`;
    let changed: { moment: string }[] = [];
    while (changed.length === 0) changed = await tx.query<{ moment: string }>(waited);
    await insertPurges(tx, {
      ...{ project_id, files: null, reason: 'it' },
      repeat_after_seconds: REPEAT_SECONDS,
    });
    return tx.query<{ is_at_once: boolean; is_repeat: boolean }>(
      `select run_after <= now() as is_at_once,
         run_after >= $2::timestamptz + make_interval(secs => $3) as is_repeat
       from purges where project_id = $1 order by run_after`,
      [project_id, changed[0]?.moment, REPEAT_SECONDS],
    );
  });
  expect(late).toEqual([
    { is_at_once: true, is_repeat: false },
    { is_at_once: false, is_repeat: true },
  ]);
});

it('a purge counts as waiting from when it is due until it is sent, regardless of retries', async () => {
  await db.query('delete from purges');
  expect(await countPurgesWaiting(db)).toEqual({ count: 0, oldest_seconds: 0 });
  const { project_id } = await makeProject(db);
  await db.transaction((tx) =>
    insertPurges(tx, {
      ...{ project_id, files: null, reason: 'it' },
      repeat_after_seconds: REPEAT_SECONDS,
    }),
  );
  await db.query(`update purges set created_at = now() - interval '90 seconds'`);
  const waiting = async () => {
    const { count, oldest_seconds } = await countPurgesWaiting(db);
    return [count, oldest_seconds > 89];
  };
  // The repeated purge is not due yet.
  expect(await waiting()).toEqual([1, true]);
  const [claimed] = await claimPurges(db, { limit: 10, lease_seconds: 60 });
  expect(await waiting()).toEqual([1, true]);
  const purge_id = claimed?.purge_id ?? 0;
  await updatePurgesFailed(db, [{ purge_id, error: 'refused', delay_seconds: 300 }]);
  expect(await waiting()).toEqual([1, true]);
  await updatePurgesSent(db, [purge_id]);
  expect(await countPurgesWaiting(db)).toEqual({ count: 0, oldest_seconds: 0 });
});
