// Usage batches are summed however late they are read, and an hour is summed from all its batches or not at all.
// Spec: Metering.
import { expect, it } from 'vitest';
import { HOUR_MS } from '../../../runtime/core/durations.ts';
import { hourlyRollup } from '../../../runtime/jobs/hourly-rollup.ts';
import type { JobContext } from '../../../runtime/jobs/job.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { noting } from '../../support/explaining.ts';
import { hoursAgo, useUsage } from '../../support/usage-to-sum.ts';

const { db } = useDatabase();
const { jobs, send, runRollup, requests, charges } = useUsage(db);

it('usage from before a long absence is neither deleted nor lost, and is charged for its own nights', async () => {
  const absence = 100;
  const before = hoursAgo(absence * 24);
  await runRollup();
  await send(db, before);
  await db.query(`update usage_batches set received_at = now() - make_interval(days => $1)`, [
    absence,
  ]);
  await db.query(`update job_runs set started_at = now() - make_interval(days => $1)`, [absence]);
  await db.query(`update sweep_positions set updated_at = now() - make_interval(days => $1)`, [
    absence,
  ]);
  await jobs().run(table.retention);
  await jobs().run(table['daily-charge'], new Date(before.getTime() + 24 * HOUR_MS));
  expect(await requests()).toEqual([1]);
  expect(await charges()).toEqual([{ delta: 1 }]);
  await runRollup();
  expect(await jobs().run(table.retention)).toMatchObject({ batches: 1 });
});

it('usage received long before the first rollup is still summed', async () => {
  await send(db, hoursAgo(60 * 24));
  await db.query(`update usage_batches set received_at = now() - interval '60 days'`);
  await jobs().run(table.retention);
  await runRollup();
  expect(await requests()).toEqual([1]);
});

it('a late batch adds to its hour, whose other batches are kept as long as it can be summed again', async () => {
  const oldest = hoursAgo(34 * 24 - 2);
  await send(db, oldest);
  await runRollup();
  await db.query(`update usage_batches set received_at = now() - interval '34 days'`);
  await jobs().run(table.retention);
  await send(db, oldest);
  await runRollup();
  expect(await requests()).toEqual([2]);
});

it('a rollup overtaken by another one and by retention sums no hour from the remaining batches', async () => {
  const windows = [hoursAgo(60 * 24), hoursAgo(60 * 24 - 1)];
  for (const window of windows) for (const _each of [1, 2]) await send(db, window);
  await db.query(`update usage_batches set received_at = now() - interval '60 days'`);
  let isOvertaken = false;
  const failpoint: JobContext['failpoint'] = async (name) => {
    if (isOvertaken || name !== 'rollup.committed') return;
    isOvertaken = true;
    await runRollup();
    expect(await jobs().run(table.retention)).toMatchObject({ batches: 4 });
    for (const window of windows) await send(db, window);
  };
  await hourlyRollup(slow({ failpoint }), { batches_at_once: 1 });
  expect(await requests()).toEqual([2, 2]);
});

it('an interrupted rollup leaves only what it has not summed to the next one', async () => {
  const windows = [9, 7, 5].map(hoursAgo);
  for (const window of windows) await send(db, window);
  await db.query('update usage_batches set received_at = hours[1]');
  const ending = new AbortController();
  let steps = 0;
  const failpoint: JobContext['failpoint'] = () => {
    steps += 1;
    if (steps === 4) ending.abort(new Error('the deadline'));
  };
  const first = hourlyRollup(slow({ failpoint, signal: ending.signal }), { batches_at_once: 1 });
  await expect(first).rejects.toThrow('the deadline');
  expect(await requests()).toEqual([1, 1]);
  const { db: noted, statements } = noting(db);
  await hourlyRollup(slow({ db: noted }));
  expect(await requests()).toEqual([1, 1, 1]);
  const summed = statements.filter(({ text }) => text.includes('insert into usage_hours'));
  expect(summed.map(({ values }) => values)).toEqual([[windows.slice(1)]]);
});

const slow = (context: Partial<JobContext>): JobContext => ({
  ...{ ...jobs().deps, at: new Date(), run: 'slow', signal: new AbortController().signal },
  ...context,
});
