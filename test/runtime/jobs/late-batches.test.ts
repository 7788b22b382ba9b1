// Usage batches that arrive while hours are summed or days are charged. Spec: Metering.
import { expect, it } from 'vitest';
import { HOUR_MS } from '../../../runtime/core/durations.ts';
import { dayOf, startOfDay } from '../../../runtime/core/metering.ts';
import type { Job } from '../../../runtime/jobs/job.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { countWaiting, untilWaiting } from '../../support/lock-waits.ts';
import { hoursAgo, useUsage } from '../../support/usage-to-sum.ts';

const { db } = useDatabase({ maxConnections: 8 });
const { jobs, project_id, send, runRollup, requests, charges } = useUsage(db);
const rollup = table['hourly-rollup'];
const HELD = 4711;

it('a batch that is committed only after a rollup has passed it is summed by the next rollup', async () => {
  const hour = hoursAgo(3);
  await db.transaction(async (tx) => {
    await send(tx, hour);
    // A batch with a higher number, so that the run goes past the one that it cannot see yet.
    await send(db, hour);
    expect(await runRollup()).toMatchObject({ outcome: 'done' });
    expect(await requests()).toEqual([1]);
  });
  expect(await runRollup()).toMatchObject({ outcome: 'done' });
  expect(await requests()).toEqual([2]);
});

it('a batch is summed even if the clock had been an hour ahead and was set back', async () => {
  await send(db, hoursAgo(2));
  await runRollup();
  await db.query(`update sweep_positions set updated_at = updated_at + interval '1 hour'`);
  await db.query(`update job_runs set started_at = started_at + interval '1 hour'`);
  await send(db, hoursAgo(3));
  await runRollup();
  expect(await requests()).toEqual([1, 1]);
});

it('usage that cannot be summed fails the run, but does not keep other usage from being charged', async () => {
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
  await expect(jobs().run(table['daily-charge'], night)).rejects.toThrow('no sum');
  expect(await charges()).toEqual([{ delta: 1 }]);
  await db.query('drop trigger refuse_sum on usage_hours');
  await jobs().run(table['daily-charge'], night);
  expect(await charges()).toEqual([{ delta: 1 }, { delta: 1 }]);
});

it('a rollup that was overtaken does not replace the newer sum of an hour with its older one', async () => {
  const hour = hoursAgo(3);
  await send(db, hour);
  await overtake({ job: rollup, writes: 'usage_hours' }, () => send(db, hour));
  expect(await requests()).toEqual([2]);
});

it('a charge that was overtaken does not replace the newer cost of a day with its older one', async () => {
  const yesterday = new Date(startOfDay(dayOf(new Date())).getTime() - HOUR_MS);
  await send(db, yesterday);
  await jobs().run(rollup);
  await overtake({ job: table['daily-charge'], writes: 'usage_days' }, async () => {
    await send(db, yesterday);
    await jobs().run(rollup);
  });
  expect(await charges()).toEqual([{ delta: 1 }, { delta: 1 }]);
});

type Overtaken = { job: Pick<Job, 'run'>; writes: 'usage_hours' | 'usage_days' };

/**
 * Holds a run that has read one request, before it writes. Meanwhile, more usage arrives and
 * another run begins.
 */
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
  const slow = jobs().run(job);
  await untilWaiting(db, 1);
  await meanwhile();
  let isDone = false;
  const next = jobs()
    .run(job)
    .finally(() => {
      isDone = true;
    });
  await expect.poll(async () => isDone || (await countWaiting(db)) === 2).toBe(true);
  letGo.resolve();
  await Promise.all([holder, slow, next]);
  await db.query(`drop trigger hold_sums on ${writes}`);
}

/** Makes any run that writes a sum of one request wait for the advisory lock. */
async function holdSumsOfOne(writes: Overtaken['writes']): Promise<void> {
  await db.query(`create or replace function hold_sums() returns trigger language plpgsql as $$ begin
    if new.project_id = '${project_id()}' and new.requests = 1 then
      perform pg_advisory_xact_lock_shared(${HELD});
    end if;
    return new;
  end $$`);
  await db.query(
    `create trigger hold_sums before insert on ${writes} for each row execute function hold_sums()`,
  );
}
