// Usage batches that come while hours are summed, or long after them. Spec: Metering.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Queryable } from '../../../runtime/db/client.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import { runJob } from '../../../runtime/jobs/run-job.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
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
  await db.query('truncate usage_batches, usage_batch_rows, usage_hours');
  ({ project_id } = await makeProject(db));
});

const hoursAgo = (hours: number) => new Date((Math.floor(Date.now() / HOUR_MS) - hours) * HOUR_MS);

function send(to: Queryable, window_start: Date): Promise<boolean> {
  sequence += 1;
  const entry = { project_id, window_start, requests: 1, bytes: 1, transforms: 0, credits: 1 };
  return insertUsageBatch(to, { spool_id: 'spl_late', sequence, entries: [entry] });
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

it('a run that was overtaken does not put its older sum in place of the newer one', async () => {
  const hour = hoursAgo(3);
  await send(db, hour);
  await holdSumsOfOne();
  const letGo = Promise.withResolvers<void>();
  const holding = Promise.withResolvers<void>();
  const holder = db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [HELD]);
    holding.resolve();
    await letGo.promise;
  });
  await holding.promise;
  const slow = jobs.run(rollup);
  await expect.poll(waiting).toBe(1);
  await send(db, hour);
  let isDone = false;
  const next = jobs.run(rollup).finally(() => {
    isDone = true;
  });
  await expect.poll(async () => isDone || (await waiting()) === 2).toBe(true);
  letGo.resolve();
  await Promise.all([holder, slow, next]);
  expect(await requests()).toEqual([2]);
});

/** Who has summed one request and is about to write it waits for whoever holds the lock. */
async function holdSumsOfOne(): Promise<void> {
  await db.query(`create function hold_sums() returns trigger language plpgsql as $$ begin
    if new.project_id = '${project_id}' and new.requests = 1 then
      perform pg_advisory_xact_lock_shared(${HELD});
    end if;
    return new;
  end $$`);
  await db.query(
    'create trigger hold_sums before insert on usage_hours for each row execute function hold_sums()',
  );
}

async function waiting(): Promise<number> {
  const rows = await db.query(
    `select from pg_locks where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`,
  );
  return rows.length;
}
