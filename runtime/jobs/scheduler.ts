/**
 * Runs the jobs of the table when their time comes, in one process; after a time without it, what was missed as the
 * table says. Several schedulers on one database do not double a run: the database lets one begin, and tells the others
 * that it has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import { findLastScheduledFor, hasDoneJobRun } from '../db/job-runs.ts';
import type { Metrics } from '../platform/metrics.ts';
import { createOutageLog } from '../platform/outage-log.ts';
import type { Job, JobByHand, JobDeps } from './job.ts';
import { outlastRun } from './outlast-run.ts';
import { runJob } from './run-job.ts';
import { jobs } from './table.ts';

export type Scheduler = {
  /** Begins nothing new, tells what runs to stop, and waits for it. */
  stop(): Promise<void>;
};

export type SchedulerOptions = {
  jobs?: Readonly<Record<string, Job>>;
  metrics?: Metrics;
  tick_ms?: number;
};

const TICK_MS = 1000;
/** How many missed runs are made up for, at most. */
const MISSED_MAX = 40;

export function startScheduler(deps: JobDeps, options: SchedulerOptions = {}): Scheduler {
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

/** One job's line of time: it waits for the next time that is due after the last one that it looked at. */
async function runWhenDue(deps: JobDeps, line: Line): Promise<void> {
  const { signal } = line;
  let looked: Date | undefined;
  let next: Date | null = null;
  let seen = new Date(0);
  const says = 'the schedule of a job cannot be looked at: it is tried each second';
  const outage = createOutageLog(deps.log, { says, fields: { job: line.name } });
  while (!signal.aborted) {
    try {
      if (looked === undefined) {
        looked = (await findLastScheduledFor(deps.db, line.name)) ?? deps.clock.now();
        next = cronOf(line.job).nextRun(looked);
      }
      const now = deps.clock.now();
      // Of a clock that was set back, what was looked at had not come yet.
      if (now < seen) looked = undefined;
      else if (next !== null && now >= next) {
        await runDue(deps, line, { after: looked, until: now });
        looked = now;
        next = cronOf(line.job).nextRun(looked);
      }
      seen = now;
      outage.went();
    } catch (error) {
      outage.failed(error);
    }
    await sleep(line.options.tick_ms ?? TICK_MS, undefined, { signal }).catch(() => undefined);
  }
}

type Span = { after: Date; until: Date };

async function runDue(deps: JobDeps, line: Line, span: Span): Promise<void> {
  const { name, job, signal, options } = line;
  const { metrics } = options;
  const run = { name, job, signal, ...(metrics === undefined ? {} : { metrics }) };
  for (const at of dueTimes(job, span)) {
    while (!signal.aborted && !(await hasDoneJobRun(deps.db, { job: name, scheduled_for: at }))) {
      const { outcome } = await runJob(deps, { ...run, at });
      const isLeft = outcome !== 'skipped' || !(await outlastRun(deps.db, { job: name, signal }));
      if (isLeft) break;
    }
  }
}

/** The times in (after, until] as which the job has to run now: the newest, or each, as the table says. */
export function dueTimes(job: Pick<Job, 'schedule' | 'missed'>, { after, until }: Span): Date[] {
  const cron = cronOf(job);
  const next = cron.nextRun(after);
  if (next === null || next > until) return [];
  const newest = cron.previousRuns(job.missed === 'each' ? MISSED_MAX : 1, justBehind(until));
  return newest
    .filter((time) => time > after)
    .sort((left, right) => left.getTime() - right.getTime());
}

type Called = { name: string; job: JobByHand | Job; at?: Date | undefined };

/**
 * The times as which a job runs that is called now, by a CronJob or a person: what it missed as the table says, else
 * now; as if at a time, what it missed before that, which would never be run behind it, and then that time.
 */
export async function timesNow(
  { db, clock }: Pick<JobDeps, 'db' | 'clock'>,
  { name, job, at }: Called,
): Promise<Date[]> {
  const now = clock.now();
  if (!('missed' in job) || job.missed === 'newest') return [at ?? now];
  const after = await findLastScheduledFor(db, name);
  const until = at !== undefined && at < now ? at : now;
  const missed = after === undefined ? [] : dueTimes(job, { after, until });
  if (at !== undefined) return [...missed.filter((time) => time < at), at];
  return missed.length === 0 ? [now] : missed;
}

function cronOf({ schedule }: Pick<Job, 'schedule'>): Cron {
  return new Cron(schedule, { timezone: 'UTC' });
}

/** Cron looks at times before an instant, and knows whole seconds only. */
function justBehind(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / 1000) * 1000 + 1000);
}
