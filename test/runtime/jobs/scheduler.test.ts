import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../runtime/core/durations.ts';
import { hourOf } from '../../../runtime/core/metering.ts';
import { deleteOldJobRuns } from '../../../runtime/db/job-runs.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import { listChargeableNights } from '../../../runtime/jobs/daily-charge.ts';
import type { Job } from '../../../runtime/jobs/job.ts';
import {
  dueTimes,
  resolveRunTimes,
  type Scheduler,
  startScheduler,
} from '../../../runtime/jobs/scheduler.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const utc = (text: string) => new Date(`${text}Z`);
const printed = (times: Date[]) => times.map((time) => time.toISOString().slice(0, 16));

describe('the table of jobs', () => {
  it('lists every job with a deadline and the meaning of a missed run', () => {
    expect(Object.keys(table)).toEqual([
      'upload-sweep',
      'purge-queue',
      'webhook-delivery',
      'status-sampling',
      'hourly-rollup',
      'daily-charge',
      'reconciliation',
      'content-sweep',
      'retention',
      'signing-key-retirement',
    ]);
    for (const job of Object.values<Job>(table)) {
      expect(job.deadline_seconds).toBeGreaterThan(0);
      expect(job.missed_means).toMatch(/\.$/);
    }
    expect(table['hourly-rollup'].schedule).toBe('5 * * * *');
    expect(table['daily-charge'].schedule).toBe('20 0 * * *');
  });
});

describe('due times', () => {
  const each = { schedule: '20 0 * * *' };
  const newest = { schedule: '5 * * * *' };

  it('are all missed ones in order, or only the newest, up to the current minute', () => {
    const until = utc('2026-11-20T00:20:00');
    expect(printed(dueTimes(each, { after: utc('2026-11-17T00:20:00'), until }, 40))).toEqual([
      '2026-11-18T00:20',
      '2026-11-19T00:20',
      '2026-11-20T00:20',
    ]);
    expect(printed(dueTimes(newest, { after: utc('2026-11-17T00:20:00'), until }, 1))).toEqual([
      '2026-11-20T00:05',
    ]);
    const before = utc('2026-11-20T00:19:59.999');
    expect(dueTimes(each, { after: utc('2026-11-19T00:20:00'), until: before }, 40)).toEqual([]);
  });

  it('are limited after a long absence', () => {
    const span = { after: utc('2020-01-01T00:00:00'), until: utc('2026-11-20T12:00:00') };
    const due = dueTimes(each, span, 40);
    expect(due).toHaveLength(40);
    expect(printed(due).at(-1)).toBe('2026-11-20T00:20');
  });

  it('come exactly once, however often they are checked', () => {
    const looks = fc.array(fc.integer({ min: 1, max: 7200 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(looks, (steps) => {
        const start = utc('2026-11-18T22:00:00').getTime();
        let at = start;
        const seen: string[] = [];
        for (const seconds of steps) {
          const next = at + seconds * 1000;
          seen.push(
            ...printed(dueTimes(newest, { after: new Date(at), until: new Date(next) }, 40)),
          );
          at = next;
        }
        const whole = dueTimes(newest, { after: new Date(start), until: new Date(at) }, 40);
        fc.pre(whole.length < 40);
        expect(seen).toEqual(printed(whole));
      }),
      { numRuns: 30 },
    );
  });
});

describe('the times for which a job runs when called by hand', () => {
  const daily = (at: Date): Job => ({
    ...table['daily-charge'],
    schedule: `${at.getUTCMinutes()} ${at.getUTCHours()} * * *`,
  });
  /** Half a day ago, so that no test runs while it becomes due. */
  const noon = Math.floor((Date.now() - 12 * HOUR_MS) / 60_000) * 60_000;
  const due = (days: number, hours = 0) => new Date(noon + days * DAY_MS + hours * HOUR_MS);
  const job = daily(due(0));
  const lines: string[] = [];
  const destination = { write: (line: string) => lines.push(line) };
  const log = createLog({ level: 'warn', name: 'test', destination });
  const deps = { db, clock: systemClock, log };
  const called = (at?: Date) => resolveRunTimes(deps, { name: 'daily-charge', job, at });
  const insert = (at: Date, run: { started?: Date; outcome?: string; job?: string } = {}) =>
    db.query(
      `insert into job_runs (job, scheduled_for, started_at, lease_until, finished_at, outcome)
       values ($1, $2, $3, now(), now(), $4)`,
      [run.job ?? 'daily-charge', at, run.started ?? at, run.outcome ?? 'done'],
    );

  beforeEach(() => db.query('delete from job_runs'));

  it('are the missed ones, or now if none was missed', async () => {
    const isNow = async () =>
      (await called()).map((time) => Math.abs(time.getTime() - Date.now()) < 60_000);
    expect(await isNow()).toEqual([true]);
    for (const name of ['daily-charge', 'hourly-rollup']) await insert(due(-5), { job: name });
    expect(await called()).toEqual([0, -1, -2, -3, -4].map((days) => due(days)));
    const clock = { now: () => due(-1) };
    const rollup = { name: 'hourly-rollup', job: table['hourly-rollup'] };
    expect(await resolveRunTimes({ ...deps, clock }, rollup)).toEqual([due(-1)]);
    for (const days of [-4, -3, -2, -1, 0]) await insert(due(days));
    expect(await isNow()).toEqual([true]);
  });

  it('include each failed one, even if later ones succeeded', async () => {
    await insert(due(-4), { outcome: 'failed' });
    await insert(due(-3));
    await insert(due(-2), { outcome: 'failed' });
    await insert(due(-1));
    await insert(due(0, 1));
    expect(await called()).toEqual([due(0), due(-2), due(-4)]);
  });

  it('start with the first run of any job if this one never ran', async () => {
    await insert(due(-3, 1), { job: 'upload-sweep' });
    expect(await called()).toEqual([due(0), due(-1), due(-2)]);
  });

  it('follow the database clock to within a minute, whatever the local clock says', async () => {
    const nextMinute = new Date(Math.ceil(Date.now() / 60_000) * 60_000);
    await insert(new Date(nextMinute.getTime() - DAY_MS));
    const calls = { name: 'daily-charge', job: daily(nextMinute) };
    for (const seconds of [-600, -5, 600]) {
      const clock = { now: () => new Date(nextMinute.getTime() + seconds * 1000) };
      expect(await resolveRunTimes({ ...deps, clock }, calls)).toEqual([nextMinute]);
    }
  });

  it('are the given time and those missed before it', async () => {
    expect(await called(due(-1, 3))).toEqual([due(-1, 3)]);
    await insert(due(-3));
    const missed = [due(-1), due(-2)];
    expect(await called(due(0, -1))).toEqual([due(0, -1), ...missed]);
    expect(await called(due(0))).toEqual([due(0), ...missed]);
    expect(await called(due(1, 3))).toEqual([due(1, 3), due(0), ...missed]);
    expect(await called(due(-6, 3))).toEqual([due(-6, 3)]);
    // A run as of a future time does not count for the days until then.
    await insert(due(-1), { started: due(-3, 12) });
    expect(await called(due(0, -1))).toEqual([due(0, -1), ...missed]);
  });

  it('are limited to the newest, and the log says how many were left out', async () => {
    await insert(due(-99));
    await insert(due(-60));
    expect(lines).toEqual([]);
    const newest = Array.from({ length: 40 }, (_, day) => due(-49 - day));
    const before = newest.filter((time) => time.getTime() !== due(-60).getTime());
    const { needed: _, ...any } = job;
    const asked = { name: 'daily-charge', job: any, at: due(-49, 3) };
    expect(await resolveRunTimes(deps, asked)).toEqual([due(-49, 3), ...before, due(-89)]);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        job: 'daily-charge',
        count: 9,
        until: due(-89).toISOString(),
        advice: expect.stringContaining('--at'),
      }),
    ]);
  });

  it('include, after a very long absence, the earlier nights that have usage to charge', async () => {
    await insert(due(-120));
    const { project_id } = await makeProject(db);
    const entry = { requests: 1, bytes: 1, transforms: 0, credits: 1, project_id };
    const entries = [{ ...entry, window_start: hourOf(due(-120, -1)) }];
    await insertUsageBatch(db, { spool_id: 'spl_absent', sequence: 1, entries });
    const newest = Array.from({ length: 40 }, (_, day) => due(-day));
    const afterUsage = await listChargeableNights(
      db,
      [-117, -118, -119].map((days) => due(days)),
    );
    expect(afterUsage.length).toBeGreaterThan(1);
    lines.length = 0;
    expect(await called()).toEqual([...newest, ...afterUsage]);
    // Also if the call was killed after the newest night, and retention has run since.
    await insert(due(0), { started: new Date() });
    await db.query(`update job_runs set finished_at = started_at`);
    expect(await deleteOldJobRuns(db, 90 * 86_400)).toBe(0);
    expect(await called()).toEqual([...newest.slice(1), due(-40), ...afterUsage]);
    expect(lines).toEqual([]);
  });
});

describe('the scheduler', () => {
  let jobs: TestJobs;
  let scheduler: Scheduler | undefined;
  let ran: string[];
  /** How often a scheduler started by `startLooked` has read its clock. */
  let looks = 0;

  beforeAll(async () => {
    jobs = await makeJobs(db);
  });
  afterAll(() => jobs.close());
  beforeEach(async () => {
    ran = [];
    await db.query('delete from job_runs');
  });
  afterEach(() => scheduler?.stop());

  function noting(name: string, missed: Job['missed'], schedule = '20 0 * * *'): Job {
    return {
      schedule,
      deadline_seconds: 10,
      clock: 'at',
      missed,
      missed_means: '',
      run: async ({ at }) => {
        ran.push(`${name} ${printed([at])[0]}`);
        return {};
      },
    };
  }

  const done = (name: string, at: string) =>
    db.query(
      `insert into job_runs (job, scheduled_for, lease_until, finished_at, outcome) values ($1, $2, now(), now(), 'done')`,
      [name, utc(at)],
    );

  /** Starts a scheduler and waits until it has read its clock for the first time. */
  async function startLooked(rows: Record<string, Job>, deps = jobs.deps): Promise<Scheduler> {
    const looked = Promise.withResolvers<void>();
    const now = () => {
      looks += 1;
      looked.resolve();
      return deps.clock.now();
    };
    const started = startScheduler({ ...deps, clock: { now } }, { jobs: rows, tick_ms: 5 });
    await looked.promise;
    return started;
  }

  async function until(count: number): Promise<void> {
    await expect.poll(() => ran.length).toBeGreaterThanOrEqual(count);
  }

  it('makes up at its start for missed runs, as each job is configured', async () => {
    await done('charge', '2026-11-01T00:20:00');
    await done('sweep', '2026-11-01T00:20:00');
    jobs.clock.set(utc('2026-11-04T12:00:00'));
    const rows = { charge: noting('charge', 'each'), sweep: noting('sweep', 'newest') };
    scheduler = startScheduler(jobs.deps, { jobs: rows, tick_ms: 5 });
    await until(4);
    await scheduler.stop();
    expect(ran.toSorted()).toEqual([
      'charge 2026-11-02T00:20',
      'charge 2026-11-03T00:20',
      'charge 2026-11-04T00:20',
      'sweep 2026-11-04T00:20',
    ]);
  });

  it('makes up for the run of a killed process once its lease has expired', async () => {
    await done('charge', '2026-11-03T00:20:00');
    await db.query(
      `insert into job_runs (job, scheduled_for, lease_until) values ('charge', $1, now() + interval '1 second')`,
      [utc('2026-11-04T00:20:00')],
    );
    jobs.clock.set(utc('2026-11-04T12:00:00'));
    scheduler = startScheduler(jobs.deps, {
      jobs: { charge: noting('charge', 'each') },
      tick_ms: 5,
    });
    await expect.poll(() => ran, { timeout: 20_000 }).toEqual(['charge 2026-11-04T00:20']);
  });

  it('repeats each failed run at the next due time, even if a later one succeeded', async () => {
    const failing = new Set(['2026-11-11T00:20', '2026-11-12T00:20']);
    const charge = noting('charge', 'each');
    const run: Job['run'] = async (context) => {
      const counts = await charge.run(context);
      if (failing.has(printed([context.at])[0] ?? '')) throw new Error('held');
      return counts;
    };
    const night = async (day: number, count: number) => {
      jobs.clock.set(utc(`2026-11-${day}T00:20:00`));
      await until(count);
      return ran.splice(0).map((each) => Number(each.slice(15, 17)));
    };
    await done('sweep', '2026-11-10T12:00:00');
    jobs.clock.set(utc('2026-11-10T12:00:00'));
    scheduler = await startLooked({ charge: { ...charge, run } });
    expect(await night(11, 1)).toEqual([11]);
    expect(await night(12, 2)).toEqual([12, 11]);
    failing.delete('2026-11-12T00:20');
    expect(await night(13, 3)).toEqual([13, 12, 11]);
    failing.clear();
    expect(await night(14, 2)).toEqual([14, 11]);
    await scheduler.stop();
    jobs.clock.set(utc('2026-11-14T12:00:00'));
    await db.query(`delete from job_runs where scheduled_for = $1`, [utc('2026-11-12T00:20:00')]);
    scheduler = await startLooked({ charge: { ...charge, run } });
    await until(1);
    expect(ran).toEqual(['charge 2026-11-12T00:20']);
  });

  it('runs a job once when it is due, and nothing at its very first start', async () => {
    jobs.clock.set(utc('2026-11-04T12:00:30'));
    const rows = { sweep: noting('sweep', 'newest', '* * * * *') };
    scheduler = await startLooked(rows);
    expect(ran).toEqual([]);
    jobs.clock.set(utc('2026-11-04T12:01:00'));
    await until(1);
    jobs.clock.set(utc('2026-11-04T12:01:59'));
    // No event tells that no job begins, so wait; the scheduler looks every five milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 60));
    jobs.clock.set(utc('2026-11-04T12:05:10'));
    await until(2);
    await scheduler.stop();
    expect(ran).toEqual(['sweep 2026-11-04T12:01', 'sweep 2026-11-04T12:05']);
  });

  it('does not repeat what another scheduler has already done', async () => {
    jobs.clock.set(utc('2026-11-04T12:00:30'));
    const rows = { sweep: noting('sweep', 'newest', '* * * * *') };
    let late = utc('2026-11-04T12:00:30');
    let asked = 0;
    const query: typeof db.query = (text, values) => {
      asked += 1;
      return db.query(text, values);
    };
    const deps = { ...jobs.deps, db: { ...db, query }, clock: { now: () => late } };
    const other = await startLooked(rows, deps);
    scheduler = await startLooked(rows);
    const runs = () => db.query(`select outcome from job_runs where job = 'sweep'`);
    expect(await runs()).toEqual([]);
    jobs.clock.set(utc('2026-11-04T12:01:00'));
    await expect.poll(runs).toEqual([{ outcome: 'done' }]);
    asked = 0;
    late = utc('2026-11-04T12:01:01');
    await expect.poll(() => asked).toBeGreaterThan(0);
    await other.stop();
    expect(await runs()).toEqual([{ outcome: 'done' }]);
  });

  it('continues when its clock is set back', async () => {
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    const secondsIn = (seconds: number) => new Date(minute + seconds * 1000);
    jobs.clock.set(secondsIn(3630));
    scheduler = await startLooked({ sweep: noting('sweep', 'newest', '* * * * *') });
    jobs.clock.set(secondsIn(3660));
    await until(1);
    jobs.clock.set(secondsIn(30));
    const before = looks;
    await expect.poll(() => looks - before).toBeGreaterThanOrEqual(2);
    jobs.clock.set(secondsIn(60));
    await until(2);
    await scheduler.stop();
    expect(ran).toEqual([secondsIn(3660), secondsIn(60)].map((at) => `sweep ${printed([at])[0]}`));
  });

  it('runs at its time what ran early while the database clock was ahead', async () => {
    const hour = new Date((Math.ceil(Date.now() / 3_600_000) + 1) * 3_600_000);
    await db.query(
      `insert into job_runs (job, scheduled_for, started_at, lease_until, finished_at, outcome)
       values ('charge', $1, $1, $1, $1, 'done')`,
      [hour],
    );
    jobs.clock.set(new Date());
    scheduler = await startLooked({
      charge: noting('charge', 'each', `0 ${hour.getUTCHours()} * * *`),
    });
    jobs.clock.set(hour);
    await until(1);
    expect(ran).toEqual([`charge ${printed([hour])[0]}`]);
  });

  it('aborts running jobs when it is stopped, and waits for them', async () => {
    jobs.clock.set(utc('2026-11-04T12:00:30'));
    const started = Promise.withResolvers<void>();
    let wasTold = false;
    const patient: Job = {
      ...noting('sweep', 'newest', '* * * * *'),
      run: ({ signal }) => {
        started.resolve();
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            wasTold = true;
            reject(signal.reason);
          });
        });
      },
    };
    scheduler = await startLooked({ patient });
    jobs.clock.set(utc('2026-11-04T12:01:00'));
    await started.promise;
    await scheduler.stop();
    expect(wasTold).toBe(true);
  });

  it('continues after a database that did not answer', async () => {
    jobs.clock.set(utc('2026-11-04T12:00:30'));
    let refusals = 3;
    const query: typeof db.query = (text, values) => {
      if (refusals === 0) return db.query(text, values);
      refusals -= 1;
      return Promise.reject(new Error('away'));
    };
    const rows = { sweep: noting('sweep', 'newest', '* * * * *') };
    scheduler = await startLooked(rows, { ...jobs.deps, db: { ...db, query } });
    expect(refusals).toBe(0);
    jobs.clock.set(utc('2026-11-04T12:01:00'));
    await until(1);
    expect(ran).toEqual(['sweep 2026-11-04T12:01']);
  });
});
