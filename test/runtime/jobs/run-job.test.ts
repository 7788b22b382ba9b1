import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobRunRow } from '../../../runtime/db/job-runs.ts';
import type { Job, JobContext } from '../../../runtime/jobs/job.ts';
import { registerWorkMetrics } from '../../../runtime/jobs/register-work-metrics.ts';
import { runJob } from '../../../runtime/jobs/run-job.ts';
import { createLog, type LogLevel } from '../../../runtime/platform/log.ts';
import { createMetrics } from '../../../runtime/platform/metrics.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';

const { db } = useDatabase();
const at = new Date('2026-11-19T00:20:00Z');
let jobs: TestJobs;

beforeAll(async () => {
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());
beforeEach(() => db.query('delete from job_runs'));

function job(run: Job['run'], deadline_seconds = 60): Job {
  const row = {
    schedule: '* * * * *',
    clock: 'at',
    missed: 'newest',
    missed_means: '',
  } as const;
  return { ...row, deadline_seconds, run };
}

function runs(): Promise<JobRunRow[]> {
  return db.query('select * from job_runs order by run_id');
}

/** Runs a job and returns what is logged at this level. */
async function linesOf(level: LogLevel, run: Job['run']): Promise<unknown[]> {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level, name: 'test', destination });
  await runJob({ ...jobs.deps, log }, { name: 'one', at, job: job(run) });
  return lines.map((line) => JSON.parse(line));
}

describe('a job run', () => {
  it('is recorded with its scheduled time, and returns its counts', async () => {
    let seen: JobContext | undefined;
    const result = await runJob(jobs.deps, {
      name: 'one',
      at,
      job: job(async (context) => {
        seen = context;
        return { things: 3 };
      }),
    });
    expect(result).toEqual({ outcome: 'done', counts: { things: 3 } });
    const [run] = await runs();
    expect(run).toMatchObject({ job: 'one', scheduled_for: at, outcome: 'done', error: null });
    expect(seen?.at).toEqual(at);
    expect(seen?.run).toBe(String(run?.run_id));
  });

  it('that throws is recorded as failed, and the next one can run', async () => {
    const broken = job(async () => {
      throw new Error('no such thing');
    });
    const result = await runJob(jobs.deps, { name: 'one', at, job: broken });
    expect(result).toMatchObject({ outcome: 'failed' });
    expect(await runs()).toMatchObject([{ outcome: 'failed', error: 'Error: no such thing' }]);
    const next = await runJob(jobs.deps, { name: 'one', at, job: job(async () => ({})) });
    expect(next.outcome).toBe('done');
  });

  it('excludes other runs of its job, but not of other jobs', async () => {
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const slow = job(() => {
      begun.resolve();
      return gate.promise.then(() => ({}));
    });
    const first = runJob(jobs.deps, { name: 'one', at, job: slow });
    await begun.promise;
    let ran = false;
    const second = job(async () => {
      ran = true;
      return {};
    });
    expect(await runJob(jobs.deps, { name: 'one', at, job: second })).toEqual({
      outcome: 'skipped',
    });
    expect(ran).toBe(false);
    expect((await runJob(jobs.deps, { name: 'other', at, job: second })).outcome).toBe('done');
    gate.resolve();
    expect((await first).outcome).toBe('done');
  });

  it('of a killed process keeps others out until its lease expires, and then counts as lost', async () => {
    await db.query(
      `insert into job_runs (job, scheduled_for, lease_until) values ('one', now(), now() + interval '1 minute')`,
    );
    const quick = job(async () => ({}));
    expect((await runJob(jobs.deps, { name: 'one', at, job: quick })).outcome).toBe('skipped');
    await db.query(`update job_runs set lease_until = now() - interval '1 second'`);
    expect((await runJob(jobs.deps, { name: 'one', at, job: quick })).outcome).toBe('done');
    expect((await runs()).map((run) => run.outcome)).toEqual(['lost', 'done']);
  });

  it('that was given up as lost aborts at its next heartbeat', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const started = Promise.withResolvers<AbortSignal>();
      const frozen = job(({ signal }) => {
        started.resolve(signal);
        return new Promise(() => undefined);
      }, 30);
      const first = runJob(jobs.deps, { name: 'one', at, job: frozen });
      const signal = await started.promise;
      await db.query(`update job_runs set lease_until = now() - interval '1 second'`);
      const next = await runJob(jobs.deps, { name: 'one', at, job: job(async () => ({})) });
      expect(next.outcome).toBe('done');
      expect(signal.aborted).toBe(false);
      vi.advanceTimersByTime(60_000);
      expect(await first).toMatchObject({
        outcome: 'failed',
        error: { message: 'given up as lost: another run may have begun' },
      });
      expect(signal.aborted).toBe(true);
      expect((await runs()).map((run) => run.outcome)).toEqual(['lost', 'done']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends at its deadline, whether or not the job reacts to it', async () => {
    let signal: AbortSignal | undefined;
    const deaf = job((context) => {
      signal = context.signal;
      return new Promise(() => undefined);
    }, 0.05);
    const result = await runJob(jobs.deps, { name: 'one', at, job: deaf });
    expect(result).toMatchObject({
      outcome: 'failed',
      error: { message: 'not done after 0.05 s' },
    });
    expect(signal?.aborted).toBe(true);
    expect(await runs()).toMatchObject([{ outcome: 'failed' }]);
  });

  it('fails when its process ends', async () => {
    const ending = new AbortController();
    const started = Promise.withResolvers<void>();
    const patient = job(() => {
      started.resolve();
      return new Promise(() => undefined);
    });
    const { signal } = ending;
    const run = runJob(jobs.deps, { name: 'one', at, job: patient, signal });
    await started.promise;
    ending.abort(new Error('the process ends'));
    expect(await run).toMatchObject({ outcome: 'failed' });
    const late = await runJob(jobs.deps, { name: 'one', at, job: job(async () => ({})), signal });
    expect(late.outcome).toBe('failed');
  });

  it('is logged in one line with its nonzero counts', async () => {
    const lines = await linesOf('info', async () => ({ things: 3, others: 0 }));
    expect(lines).toMatchObject([
      { level: 'info', msg: 'job done', job: 'one', counts: { things: 3 } },
    ]);
  });

  it.each([{}, { things: 0, others: 0 }, { good: 3, failed: 0, unknown: 2 }])(
    'that did nothing (%j) is logged at debug level only',
    async (counts) => {
      expect(await linesOf('info', async () => counts)).toEqual([]);
      expect(await linesOf('debug', async () => counts)).toMatchObject([
        { level: 'debug', msg: 'job done', job: 'one', counts },
      ]);
    },
  );

  it('is recorded in the metrics', async () => {
    const metrics = createMetrics();
    const things = job(async () => ({ things: 3 }));
    await runJob(jobs.deps, { name: 'one', at, job: things, metrics });
    const { text } = await metrics.print();
    expect(text).toContain('tintype_job_seconds_count{job="one",result="succeeded"} 1');
    expect(text).toContain('tintype_job_done_total{job="one",what="things"} 3');
    expect(text).toContain('tintype_job_last_success_seconds{job="one"}');
  });

  it('counts from the last migration in the metrics until its job has succeeded once', async () => {
    const metrics = createMetrics();
    registerWorkMetrics({ db, metrics });
    const job = 'signing-key-retirement';
    const seen = async () => {
      const { text } = await metrics.print();
      const sample = new RegExp(`^tintype_job_last_success_seconds{job="${job}"} (.*)$`, 'm');
      return Number(sample.exec(text)?.[1]);
    };
    const [migrated] = await db.query<{ at: number }>(
      'select extract(epoch from max(run_on)::timestamptz)::float8 as at from schema_migrations',
    );
    expect(await seen()).toBeCloseTo(migrated?.at ?? 0, 2);
    await db.query(
      `insert into job_runs (job, scheduled_for, lease_until, finished_at, outcome)
       values ($1, now(), now(), to_timestamp(7), 'done')`,
      [job],
    );
    expect(await seen()).toBe(7);
  });
});
