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
import type { WebhookSender } from './webhook-sender.ts';

export type JobDeps = {
  readonly db: Database;
  readonly buckets: Buckets;
  readonly queue: Queue;
  readonly cdn: Cdn;
  readonly clock: Clock;
  readonly log: Log;
  /** For statements that take hours; absent where no job by hand is run. */
  readonly patient?: Database;
  readonly failpoint?: Failpoint;
  /** Where the public finds the service; absent where this process was not told. */
  readonly addresses?: PublicAddresses;
  /** The workers listen on a queue of another process: nothing that is asked here reaches them. */
  readonly is_queue_alone?: true;
  /** Absent where the secrets that sign cannot be opened. */
  readonly webhooks?: WebhookSender;
};

/** Origins, of delivery that of the reserved host which no project has. */
export type PublicAddresses = { readonly api: string; readonly delivery: string };

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

/** What a job that people call may take as a whole, in one statement even. */
export const BY_HAND_SECONDS_MAX = 6 * 3600;

/** What runs only when it is called. */
export type JobByHand = {
  readonly deadline_seconds: number;
  /** What tells it the time: the moment that it runs as if at, or the database, which `--at` cannot move. */
  readonly clock: 'at' | 'database';
  readonly run: (context: JobContext) => Promise<JobCounts>;
};

export type Job = JobByHand & {
  /** Cron words, in UTC. */
  readonly schedule: string;
  /** What is made up for after a time without the scheduler: the newest missed run, or each of them. */
  readonly missed: 'newest' | 'each';
  /** What a missed run means, for the people who run it. */
  readonly missed_means: string;
};
