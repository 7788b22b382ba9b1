/**
 * What a scheduled job is and what it gets. A job may be killed at any moment and run again at any time:
 * whatever it does, doing it twice changes nothing more.
 */
import type { Database } from '../db/client.ts';
import type { Cdn } from '../platform/cdn/cdn.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Log } from '../platform/log.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Buckets } from '../platform/storage/bucket.ts';

export type JobDeps = {
  readonly db: Database;
  readonly buckets: Buckets;
  readonly queue: Queue;
  readonly cdn: Cdn;
  readonly clock: Clock;
  readonly log: Log;
  readonly failpoint?: Failpoint;
};

export type JobContext = JobDeps & {
  /** The time as which the job runs. */
  readonly at: Date;
  /** Names this run, unlike every other one. */
  readonly run: string;
  /** Aborted at the deadline, at the process's end, or when the run was given up as lost. */
  readonly signal: AbortSignal;
};

/** How many of each thing a run did. */
export type JobCounts = Readonly<Record<string, number>>;

export type Job = {
  /** Cron words, in UTC. */
  readonly schedule: string;
  readonly deadline_seconds: number;
  /** What tells it the time: the moment that it runs as if at, or the database, which `--at` cannot move. */
  readonly clock: 'at' | 'database';
  /** When another run is under way: there is one at a time, and this one does not happen. */
  readonly overlap: 'skip';
  /** What is made up for after a time without the scheduler: the newest missed run, or each of them. */
  readonly missed: 'newest' | 'each';
  /** What a missed run means, for the people who run it. */
  readonly missed_means: string;
  readonly run: (context: JobContext) => Promise<JobCounts>;
};
