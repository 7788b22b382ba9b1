/**
 * Runs the jobs of the table on schedule in one process, and catches up on missed runs as the table defines. Several
 * schedulers on one database do not duplicate a run: the database lets one of them start it, and shows the others when
 * it has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import { DAY_MS } from '../core/durations.ts';
import type { Queryable } from '../db/client.ts';
import { findDatabaseTime } from '../db/database-time.ts';
import {
  findFirstRunTime,
  findLastScheduledFor,
  hasDoneJobRun,
  listTimesNotRun,
  updateRunsAhead,
} from '../db/job-runs.ts';
import type { Metrics } from '../platform/metrics.ts';
import { createOutageLog } from '../platform/outage-log.ts';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';
import { type Job, type JobDeps, type ManualJob, RUNS_KEPT_DAYS } from './job.ts';
import { runJob } from './run-job.ts';
import { jobs } from './table.ts';
import { waitForRunningJob } from './wait-for-running-job.ts';

export type Scheduler = {
  /** Starts nothing new, aborts the running jobs, and waits for them. */
  stop(): Promise<void>;
};

export type SchedulerOptions = {
  jobs?: Readonly<Record<string, Job>>;
  metrics?: Metrics;
  tick_ms?: number;
};

const TICK_MS = 1000;
/** The most missed runs that are caught up on, and the most of the needed ones before those. */
const MISSED_MAX = 40;
/** Runs are kept for so long. Of times before, only those after the last success from then are known to be missed. */
const KNOWN_MS = RUNS_KEPT_DAYS * DAY_MS;
/** The most scheduled times to look back on, almost three years for a daily job. */
const KNOWN_MAX = 1000;
/** The largest tolerated difference between the clocks of Kubernetes and of the database. */
const TOLERANCE_MS = 60_000;

export function startScheduler(given: JobDeps, options: SchedulerOptions = {}): Scheduler {
  const deps = { ...given, clock: createDatabaseClock(given.db, given.clock) };
  const ending = new AbortController();
  const lines = Object.entries<Job>(options.jobs ?? jobs).map(([name, job]) =>
    runWhenDue(deps, { name, job, options, signal: ending.signal }),
  );
  return {
    stop: async () => {
      ending.abort(new Error('the process ends'));
      await Promise.all(lines);
    },
  };
}

type Line = { name: string; job: Job; options: SchedulerOptions; signal: AbortSignal };

/** The loop of one job: waits for the next scheduled time after the last one it handled. */
async function runWhenDue(deps: JobDeps & { clock: DatabaseClock }, line: Line): Promise<void> {
  const { signal } = line;
  let looked: Date | undefined;
  let next: Date | null = null;
  let seen = new Date(0);
  const says = 'the schedule of a job cannot be read; retrying every second';
  const outage = createOutageLog(deps.log, { says, fields: { job: line.name } });
  while (!signal.aborted) {
    try {
      await deps.clock.compare();
      if (looked === undefined) {
        await updateRunsAhead(deps.db, line.name);
        looked = (await findResumeTime(deps.db, line)) ?? deps.clock.now();
        next = cronOf(line.job).nextRun(looked);
      }
      const now = deps.clock.now();
      // The clock was set back, so handled times lie in the future again.
      if (now < seen) looked = undefined;
      else if (next !== null && now >= next) {
        await runDue(deps, line, { after: looked, until: now });
        looked = now;
        next = cronOf(line.job).nextRun(looked);
      }
      seen = now;
      outage.succeeded();
    } catch (error) {
      outage.failed(error);
    }
    await sleep(line.options.tick_ms ?? TICK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Where the loop continues: after the last successful run or, for jobs that catch up on each run,
 * from the first run of any job.
 */
function findResumeTime(db: Queryable, { name, job }: Line): Promise<Date | undefined> {
  return job.missed === 'each' ? findFirstRunTime(db) : findLastScheduledFor(db, { job: name });
}

type Span = { after: Date; until: Date };

async function runDue(deps: JobDeps, line: Line, span: Span): Promise<void> {
  const { name, job, signal, options } = line;
  const { metrics } = options;
  const run = { name, job, signal, ...(metrics === undefined ? {} : { metrics }) };
  const isEach = job.missed === 'each';
  const times = isEach ? await listMissed(deps, { name, job, ...span }) : dueTimes(job, span, 1);
  for (const at of times) {
    while (!signal.aborted && !(await hasRun(deps.db, line, at))) {
      const { outcome } = await runJob(deps, { ...run, at });
      const isLeft =
        outcome !== 'skipped' || !(await waitForRunningJob(deps.db, { job: name, signal }));
      if (isLeft) break;
    }
  }
}

/**
 * Whether another scheduler has run it meanwhile: for this time or, for jobs that catch up only on
 * the newest, for a later one.
 */
async function hasRun(db: Queryable, { name, job }: Line, at: Date): Promise<boolean> {
  if (job.missed === 'newest') return hasDoneJobRun(db, { job: name, scheduled_for: at });
  return (await listTimesNotRun(db, { job: name, times: [at] })).length === 0;
}

/**
 * All times since jobs first ran here for which this job has no successful run, even if a later run
 * succeeded, because a run covers only some days. Newest first, so that a time that always fails
 * holds up no other and stays the last failure. If there are very many, returns the newest, and of
 * the others those that the job needs, and logs how many of these are left out.
 */
async function listMissed(
  { db, log }: Pick<JobDeps, 'db' | 'log'>,
  { name, job, ...span }: Span & { name: string; job: Catching },
): Promise<Date[]> {
  const times = dueTimes(job, { ...span, after: await missedSince(db, name, span) }, KNOWN_MAX);
  const missed = await listTimesNotRun(db, { job: name, times });
  const older = missed.slice(MISSED_MAX);
  const needed = older.length === 0 ? [] : await job.needed?.(db, older);
  const made = [...missed.slice(0, MISSED_MAX), ...(needed ?? []).slice(0, MISSED_MAX)];
  const count = needed === undefined ? older.length : needed.slice(MISSED_MAX).length;
  if (count > 0) {
    const fields = { job: name, count, until: made.at(-1), advice: FORGONE_ADVICE };
    log.warn('runs of a job were missed too long ago to catch up on', fields);
  }
  return made;
}

type Catching = Pick<Job, 'schedule' | 'missed' | 'needed'>;

/** The start of the time for which the recorded runs tell which ones were missed. */
async function missedSince(db: Queryable, name: string, { after, until }: Span): Promise<Date> {
  const first = await findFirstRunTime(db);
  if (first === undefined || first > after) return after;
  const known = new Date(until.getTime() - KNOWN_MS);
  // Later successes say nothing about it: a call may have been killed between the nights.
  const succeeded = await findLastScheduledFor(db, { job: name, before: known });
  const since = Math.min(known.getTime(), succeeded?.getTime() ?? known.getTime());
  return new Date(Math.max(first.getTime() - 1, since));
}

const FORGONE_ADVICE = 'run it as of each of those times: tintype job NAME --at TIME';

/** The newest scheduled times in (after, until], at most `count_max`, in ascending order. */
export function dueTimes(
  job: Pick<Job, 'schedule'>,
  { after, until }: Span,
  count_max: number,
): Date[] {
  const cron = cronOf(job);
  const next = cron.nextRun(after);
  if (next === null || next > until) return [];
  return cron
    .previousRuns(count_max, nextWholeSecond(until))
    .filter((time) => time > after)
    .sort((left, right) => left.getTime() - right.getTime());
}

type Called = { name: string; job: ManualJob | Job; at?: Date | undefined };

/**
 * The times for which a job called now, by a CronJob or a person, should run: its missed times by
 * the database's clock, as the table defines, or else now. With `at`: that time, then the missed
 * times before it.
 */
export async function resolveRunTimes(
  deps: Pick<JobDeps, 'db' | 'clock' | 'log'>,
  { name, job, at }: Called,
): Promise<Date[]> {
  await updateRunsAhead(deps.db, name);
  if (!('missed' in job) || job.missed === 'newest') return [at ?? deps.clock.now()];
  const now = await findDatabaseTime(deps.db);
  const come = new Date(now.getTime() + TOLERANCE_MS);
  const until = at !== undefined && at < come ? at : come;
  const missed = await listMissed(deps, { name, job, after: until, until });
  if (at !== undefined) return [at, ...missed.filter((time) => time < at)];
  return missed.length === 0 ? [now] : missed;
}

function cronOf({ schedule }: Pick<Job, 'schedule'>): Cron {
  return new Cron(schedule, { timezone: 'UTC' });
}

/** The cron library finds times before an instant, with whole seconds only. */
function nextWholeSecond(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / 1000) * 1000 + 1000);
}
