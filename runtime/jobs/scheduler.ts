/**
 * Runs the jobs of the table when their time comes, in one process; after a time without it, what was missed as the
 * table says. Several schedulers on one database do not double a run: the database lets one begin, and tells the others
 * that it has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Cron } from 'croner';
import type { Queryable } from '../db/client.ts';
import { findDatabaseTime } from '../db/database-time.ts';
import {
  findFirstRunTime,
  findLastScheduledFor,
  hasDoneJobRun,
  listTimesNotRun,
} from '../db/job-runs.ts';
import type { Metrics } from '../platform/metrics.ts';
import { createOutageLog } from '../platform/outage-log.ts';
import { createDatabaseClock, type DatabaseClock } from './database-clock.ts';
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
/** How far back it is known of a daily run whether it was missed: runs are kept for so many days. */
const KNOWN_MAX = 90;
/** The clock by which Kubernetes calls a job, and the database's, may differ by so much. */
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

/** One job's line of time: it waits for the next time that is due after the last one that it looked at. */
async function runWhenDue(deps: JobDeps & { clock: DatabaseClock }, line: Line): Promise<void> {
  const { signal } = line;
  let looked: Date | undefined;
  let next: Date | null = null;
  let seen = new Date(0);
  const says = 'the schedule of a job cannot be looked at: it is tried each second';
  const outage = createOutageLog(deps.log, { says, fields: { job: line.name } });
  while (!signal.aborted) {
    try {
      await deps.clock.compare();
      if (looked === undefined) {
        looked = (await lookedBefore(deps.db, line)) ?? deps.clock.now();
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

/** Where the line goes on: behind the last run that went well or, where each counts, from the first of all on. */
function lookedBefore(db: Queryable, { name, job }: Line): Promise<Date | undefined> {
  return job.missed === 'each' ? findFirstRunTime(db) : findLastScheduledFor(db, name);
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
      const isLeft = outcome !== 'skipped' || !(await outlastRun(deps.db, { job: name, signal }));
      if (isLeft) break;
    }
  }
}

/** By another scheduler, meanwhile: as if at this time or, where the newest counts, at a later one. */
async function hasRun(db: Queryable, { name, job }: Line, at: Date): Promise<boolean> {
  if (job.missed === 'newest') return hasDoneJobRun(db, { job: name, scheduled_for: at });
  return (await listTimesNotRun(db, { job: name, times: [at] })).length === 0;
}

/**
 * Each time since jobs run here as which this one did not end well, also where a later one did: a run covers some days
 * only. The newest first: one that fails each time then holds up no other, and stays the last that failed. Of very many
 * the newest, and it is said that there are more.
 */
async function listMissed(
  { db, log }: Pick<JobDeps, 'db' | 'log'>,
  { name, job, after, until }: Span & { name: string; job: Pick<Job, 'schedule' | 'missed'> },
): Promise<Date[]> {
  const first = await findFirstRunTime(db);
  const isOlder = first !== undefined && first <= after;
  const span = { after: isOlder ? new Date(first.getTime() - 1) : after, until };
  const times = dueTimes(job, span, KNOWN_MAX);
  const missed = await listTimesNotRun(db, { job: name, times });
  const made = missed.slice(0, MISSED_MAX);
  const count = missed.length - made.length;
  if (count > 0) {
    const fields = { job: name, count, until: made.at(-1), advice: FORGONE_ADVICE };
    log.warn('runs of a job were missed too long ago to be made up for', fields);
  }
  return made;
}

const FORGONE_ADVICE = 'call it as if at each of those times: tintype job NAME --at TIME';

/** The newest of the times in (after, until] that the schedule has, so many at most, in their order. */
export function dueTimes(
  job: Pick<Job, 'schedule'>,
  { after, until }: Span,
  count_max: number,
): Date[] {
  const cron = cronOf(job);
  const next = cron.nextRun(after);
  if (next === null || next > until) return [];
  return cron
    .previousRuns(count_max, justBehind(until))
    .filter((time) => time > after)
    .sort((left, right) => left.getTime() - right.getTime());
}

type Called = { name: string; job: JobByHand | Job; at?: Date | undefined };

/**
 * The times as which a job runs that is called now, by a CronJob or a person: what it missed by the database's clock,
 * as the table says, else now; as if at a time, that time, and then what it missed before it.
 */
export async function timesNow(
  deps: Pick<JobDeps, 'db' | 'clock' | 'log'>,
  { name, job, at }: Called,
): Promise<Date[]> {
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

/** Cron looks at times before an instant, and knows whole seconds only. */
function justBehind(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / 1000) * 1000 + 1000);
}
