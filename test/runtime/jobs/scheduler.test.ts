import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '../../../runtime/jobs/job.ts';
import {
  dueTimes,
  type Scheduler,
  startScheduler,
  timesNow,
} from '../../../runtime/jobs/scheduler.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';

const { db } = useDatabase();
const utc = (text: string) => new Date(`${text}Z`);
const printed = (times: Date[]) => times.map((time) => time.toISOString().slice(0, 16));

describe('the table of jobs', () => {
  it('says of each when it runs, for how long, and what a missed run means', () => {
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

describe('times that are due', () => {
  const each = { schedule: '20 0 * * *', missed: 'each' } as const;
  const newest = { schedule: '5 * * * *', missed: 'newest' } as const;

  it('are each missed one in order, or the newest alone, up to this very minute', () => {
    const until = utc('2026-11-20T00:20:00');
    expect(printed(dueTimes(each, { after: utc('2026-11-17T00:20:00'), until }))).toEqual([
      '2026-11-18T00:20',
      '2026-11-19T00:20',
      '2026-11-20T00:20',
    ]);
    expect(printed(dueTimes(newest, { after: utc('2026-11-17T00:20:00'), until }))).toEqual([
      '2026-11-20T00:05',
    ]);
    const before = utc('2026-11-20T00:19:59.999');
    expect(dueTimes(each, { after: utc('2026-11-19T00:20:00'), until: before })).toEqual([]);
  });

  it('are bounded after a long absence', () => {
    const due = dueTimes(each, {
      after: utc('2020-01-01T00:00:00'),
      until: utc('2026-11-20T12:00:00'),
    });
    expect(due).toHaveLength(40);
    expect(printed(due).at(-1)).toBe('2026-11-20T00:20');
  });

  it('are those of a run that is called, too: what was missed, or now', async () => {
    const daysAgo = (days: number, time: string) =>
      `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}T${time}`;
    const deps = { db, clock: { now: () => utc(daysAgo(1, '12:00')) } };
    const called = async (job: 'daily-charge' | 'hourly-rollup') =>
      printed(await timesNow(deps, { name: job, job: table[job] }));
    const insert = (job: string, at: string) =>
      db.query(
        `insert into job_runs (job, scheduled_for, lease_until, finished_at, outcome)
         values ($1, $2, now(), now(), 'done')`,
        [job, utc(at)],
      );
    const now = [daysAgo(1, '12:00')];
    expect(await called('daily-charge')).toEqual(now);
    for (const job of ['daily-charge', 'hourly-rollup']) await insert(job, daysAgo(6, '00:20'));
    const missed = [5, 4, 3, 2, 1].map((days) => daysAgo(days, '00:20'));
    expect(await called('daily-charge')).toEqual(missed);
    expect(await called('hourly-rollup')).toEqual(now);
    await insert('daily-charge', daysAgo(1, '00:20'));
    expect(await called('daily-charge')).toEqual(now);
    await db.query('delete from job_runs');
  });

  it('are those of a run as if at a time, too: what was missed before it is run first', async () => {
    const at = (days: number, time: string) =>
      utc(`${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T${time}`);
    const noon = at(-1, '12:00');
    const deps = { db, clock: { now: () => noon } };
    const job = table['daily-charge'];
    const called = (asIfAt: Date) => timesNow(deps, { name: 'daily-charge', job, at: asIfAt });
    const insert = (scheduled: Date, started: Date) =>
      db.query(
        `insert into job_runs (job, scheduled_for, started_at, lease_until, finished_at, outcome)
         values ('daily-charge', $1, $2, now(), now(), 'done')`,
        [scheduled, started],
      );
    expect(await called(at(-1, '03:00'))).toEqual([at(-1, '03:00')]);
    await insert(at(-4, '00:20'), at(-4, '00:20'));
    const missed = [at(-3, '00:20'), at(-2, '00:20')];
    expect(await called(at(-1, '00:10'))).toEqual([...missed, at(-1, '00:10')]);
    expect(await called(at(-1, '00:20'))).toEqual([...missed, at(-1, '00:20')]);
    expect(await called(at(1, '03:00'))).toEqual([...missed, at(-1, '00:20'), at(1, '03:00')]);
    expect(await called(at(-7, '03:00'))).toEqual([at(-7, '03:00')]);
    // What was run as if at a time that had not come then hides nothing of the days until it.
    await insert(at(-2, '03:00'), at(-4, '12:00'));
    expect(await called(at(-1, '00:10'))).toEqual([...missed, at(-1, '00:10')]);
    // Of more than are made up for, the newest before that time, whatever is due by now.
    await db.query('delete from job_runs');
    await insert(at(-100, '00:20'), at(-100, '00:20'));
    const before = Array.from({ length: 40 }, (_, day) => at(day - 89, '00:20'));
    expect(await called(at(-50, '03:00'))).toEqual([...before, at(-50, '03:00')]);
    await db.query('delete from job_runs');
  });

  it('come exactly once, however often it is looked', () => {
    const looks = fc.array(fc.integer({ min: 1, max: 7200 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(looks, (steps) => {
        const start = utc('2026-11-18T22:00:00').getTime();
        let at = start;
        const seen: string[] = [];
        for (const seconds of steps) {
          const next = at + seconds * 1000;
          seen.push(
            ...printed(
              dueTimes(
                { ...newest, missed: 'each' },
                { after: new Date(at), until: new Date(next) },
              ),
            ),
          );
          at = next;
        }
        const whole = dueTimes(
          { ...newest, missed: 'each' },
          { after: new Date(start), until: new Date(at) },
        );
        fc.pre(whole.length < 40);
        expect(seen).toEqual(printed(whole));
      }),
      { numRuns: 30 },
    );
  });
});

describe('the scheduler', () => {
  let jobs: TestJobs;
  let scheduler: Scheduler | undefined;
  let ran: string[];
  /** How often a scheduler that was started to look has looked at its clock. */
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

  /** From its first look at the clock on, it runs what comes due. */
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

  it('makes up at its start for what was missed, as the table says', async () => {
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

  it('makes up for a run whose process was killed, once its lease is over', async () => {
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

  it('runs a job when its time comes, once, and nothing at its very first start', async () => {
    jobs.clock.set(utc('2026-11-04T12:00:30'));
    const rows = { sweep: noting('sweep', 'newest', '* * * * *') };
    scheduler = await startLooked(rows);
    expect(ran).toEqual([]);
    jobs.clock.set(utc('2026-11-04T12:01:00'));
    await until(1);
    jobs.clock.set(utc('2026-11-04T12:01:59'));
    // Nothing tells of a minute in which no job begins; the scheduler looks every five milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 60));
    jobs.clock.set(utc('2026-11-04T12:05:10'));
    await until(2);
    await scheduler.stop();
    expect(ran).toEqual(['sweep 2026-11-04T12:01', 'sweep 2026-11-04T12:05']);
  });

  it('runs nothing a second time that another scheduler has done already', async () => {
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

  it('goes on when its clock is set back', async () => {
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

  it('tells what runs to stop, and waits for it', async () => {
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

  it('goes on after a database that did not answer', async () => {
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
