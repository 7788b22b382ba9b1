// Usage batches that come while hours are summed or days are charged, or long after them. Spec: Metering.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { dayOf, startOfDay } from '../../../runtime/core/metering.ts';
import type { Queryable } from '../../../runtime/db/client.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import type { Job, JobContext } from '../../../runtime/jobs/job.ts';
import { runJob } from '../../../runtime/jobs/run-job.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { countWaiting, untilWaiting } from '../../support/lock-waits.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 8 });
const rollup = table['hourly-rollup'];
const HOUR_MS = 3_600_000;
const HELD = 4711;
let jobs: TestJobs;
let project_id: string;
let sequence = 0;

beforeAll(async () => {
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());
beforeEach(async () => {
  await db.query('truncate usage_batches, usage_batch_rows, usage_hours, sweep_positions');
  ({ project_id } = await makeProject(db));
});

const hoursAgo = (hours: number) => new Date((Math.floor(Date.now() / HOUR_MS) - hours) * HOUR_MS);

function send(to: Queryable, ...windows: Date[]): Promise<boolean> {
  sequence += 1;
  const sums = { project_id, requests: 1, bytes: 1, transforms: 0, credits: 1 };
  const entries = windows.map((window_start) => ({ ...sums, window_start }));
  return insertUsageBatch(to, { spool_id: 'spl_late', sequence, entries });
}

/** As the schedule does it: recorded, so that the next run begins where this one looked. */
const runRollup = () =>
  runJob(jobs.deps, { name: 'hourly-rollup', job: rollup, at: jobs.clock.now() });

async function requests(): Promise<number[]> {
  const rows = await db.query<{ requests: number }>(
    'select requests from usage_hours where project_id = $1 order by window_start',
    [project_id],
  );
  return rows.map((row) => row.requests);
}

it('a batch whose transaction began before a run and ended after it is summed by the next', async () => {
  const hour = hoursAgo(3);
  await send(db, hour);
  await db.transaction(async (tx) => {
    await send(tx, hour);
    expect(await runRollup()).toMatchObject({ outcome: 'done' });
    expect(await requests()).toEqual([1]);
  });
  expect(await runRollup()).toMatchObject({ outcome: 'done' });
  expect(await requests()).toEqual([2]);
});

it('a late batch adds to its hour as long as the hour is summed again: its other batches are kept', async () => {
  const oldest = hoursAgo(34 * 24 - 2);
  await send(db, oldest);
  await jobs.run(rollup);
  await db.query(`update usage_batches set received_at = now() - interval '34 days'`);
  await jobs.run(table.retention);
  await send(db, oldest);
  await jobs.run(rollup);
  expect(await requests()).toEqual([2]);
});

it('a batch is summed whatever the clock said before: it had been an hour ahead, and was set back', async () => {
  await send(db, hoursAgo(2));
  await runRollup();
  await db.query(`update sweep_positions set updated_at = updated_at + interval '1 hour'`);
  await db.query(`update job_runs set started_at = started_at + interval '1 hour'`);
  await send(db, hoursAgo(3));
  await runRollup();
  expect(await requests()).toEqual([1, 1]);
});

it('usage of before a long absence is neither deleted nor forgotten, and is charged with its nights', async () => {
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
  await jobs.run(table.retention);
  await jobs.run(table['daily-charge'], new Date(before.getTime() + 24 * HOUR_MS));
  expect(await requests()).toEqual([1]);
  const charges = 'select delta from ledger where project_id = $1';
  expect(await db.query(charges, [project_id])).toEqual([{ delta: 1 }]);
  await runRollup();
  expect(await jobs.run(table.retention)).toMatchObject({ batches: 1 });
});

it('usage of long before the first sum of all is summed', async () => {
  await send(db, hoursAgo(60 * 24));
  await db.query(`update usage_batches set received_at = now() - interval '60 days'`);
  await jobs.run(table.retention);
  await runRollup();
  expect(await requests()).toEqual([1]);
});

it('a run that another and retention have overtaken sums no hour from what is left of it', async () => {
  const windows = Array.from({ length: 25 }, (_, hour) => hoursAgo(60 * 24 - hour));
  await db.query(
    `insert into sweep_positions values ('hourly-rollup', '0', now() - interval '60 days')`,
  );
  for (const _ of ['deleted', 'left']) await send(db, ...windows);
  let isOvertaken = false;
  const failpoint: JobContext['failpoint'] = async (name) => {
    if (isOvertaken || name !== 'rollup.committed') return;
    isOvertaken = true;
    await runRollup();
    // As retention deletes where there are too many rows for one statement.
    await db.query(
      'delete from usage_batch_rows where batch_id = (select min(batch_id) from usage_batches)',
    );
  };
  const { signal } = new AbortController();
  await rollup.run({ ...jobs.deps, at: new Date(), run: 'slow', signal, failpoint });
  expect(await requests()).toEqual(windows.map(() => 2));
});

it('usage that cannot be summed keeps none from its charge, and fails the run', async () => {
  const night = new Date(startOfDay(dayOf(new Date())).getTime() + 20 * 60_000);
  const yesterday = new Date(startOfDay(dayOf(new Date())).getTime() - HOUR_MS);
  await send(db, yesterday);
  await runRollup();
  await db.query(
    `create function refuse_sum() returns trigger language plpgsql as $$ begin raise 'no sum'; end $$`,
  );
  await db.query(
    'create trigger refuse_sum before insert on usage_hours for each row execute function refuse_sum()',
  );
  await send(db, yesterday);
  const charges = () => db.query('select delta from ledger where project_id = $1', [project_id]);
  await expect(jobs.run(table['daily-charge'], night)).rejects.toThrow('no sum');
  expect(await charges()).toEqual([{ delta: 1 }]);
  await db.query('drop trigger refuse_sum on usage_hours');
  await jobs.run(table['daily-charge'], night);
  expect(await charges()).toEqual([{ delta: 1 }, { delta: 1 }]);
});

it('a run that was overtaken does not put its older sum in place of the newer one', async () => {
  const hour = hoursAgo(3);
  await send(db, hour);
  await overtake({ job: rollup, writes: 'usage_hours' }, () => send(db, hour));
  expect(await requests()).toEqual([2]);
});

it('a charge that was overtaken does not put what a day cost before in place of what it costs now', async () => {
  const yesterday = new Date(startOfDay(dayOf(new Date())).getTime() - HOUR_MS);
  await send(db, yesterday);
  await jobs.run(rollup);
  await overtake({ job: table['daily-charge'], writes: 'usage_days' }, async () => {
    await send(db, yesterday);
    await jobs.run(rollup);
  });
  const charges = await db.query('select delta from ledger where project_id = $1 order by 1', [
    project_id,
  ]);
  expect(charges).toEqual([{ delta: 1 }, { delta: 1 }]);
});

type Overtaken = { job: Pick<Job, 'run'>; writes: 'usage_hours' | 'usage_days' };

/** A run that has read one request and is held before it writes, while more comes and another run begins. */
async function overtake({ job, writes }: Overtaken, meanwhile: () => Promise<unknown>) {
  await holdSumsOfOne(writes);
  const letGo = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const holder = db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [HELD]);
    holding.resolve();
    await letGo.promise;
  });
  await holding.promise;
  const slow = jobs.run(job);
  await untilWaiting(db, 1);
  await meanwhile();
  let isDone = false;
  const next = jobs.run(job).finally(() => {
    isDone = true;
  });
  await expect.poll(async () => isDone || (await countWaiting(db)) === 2).toBe(true);
  letGo.resolve();
  await Promise.all([holder, slow, next]);
  await db.query(`drop trigger hold_sums on ${writes}`);
}

/** Who has summed one request and is about to write it waits for whoever holds the lock. */
async function holdSumsOfOne(writes: Overtaken['writes']): Promise<void> {
  await db.query(`create or replace function hold_sums() returns trigger language plpgsql as $$ begin
    if new.project_id = '${project_id}' and new.requests = 1 then
      perform pg_advisory_xact_lock_shared(${HELD});
    end if;
    return new;
  end $$`);
  await db.query(
    `create trigger hold_sums before insert on ${writes} for each row execute function hold_sums()`,
  );
}
