/**
 * A scheduled job and its context. A job may be killed and rerun at any time: doing its work twice changes nothing
 * more.
 */
import type { Database, Queryable } from '../db/client.ts';
import type { Cdn } from '../platform/cdn/cdn.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import type { Log } from '../platform/log.ts';
import type { Queue } from '../platform/queue/queue.ts';
import type { Sealing } from '../platform/sealing.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import type { WebhookSender } from './webhook-sender.ts';

/** Retention keeps runs for so long, and the scheduler looks back as far. */
export const RUNS_KEPT_DAYS = 90;

export type JobDeps = {
  readonly db: Database;
  readonly buckets: Buckets;
  readonly queue: Queue;
  readonly cdn: Cdn;
  readonly clock: Clock;
  readonly log: Log;
  /** For statements that take hours; absent in processes that run no job by hand. */
  readonly patient?: Database;
  readonly failpoint?: Failpoint;
  /** Public addresses of the service; absent if this process is not configured with them. */
  readonly addresses?: PublicAddresses;
  /** Workers listen on the queue of another process, so requests on this one reach nobody. */
  readonly is_queue_alone?: true;
  /** Absent, as is `sealing`, if the keys that open secrets are not configured. */
  readonly webhooks?: WebhookSender;
  readonly sealing?: Sealing;
};

/** Origins of the API and of delivery, the latter with a reserved host that no project has. */
export type PublicAddresses = { readonly api: string; readonly delivery: string };

export type JobContext = JobDeps & {
  /** The time for which the job runs. */
  readonly at: Date;
  /** Identifies this run uniquely. */
  readonly run: string;
  /** Aborted at the deadline, at the end of the process, or when the run's lease is lost. */
  readonly signal: AbortSignal;
};

/** Counts of what a run did, by kind. */
export type JobCounts = Readonly<Record<string, number>>;

/** How long a job called by hand may take, even within one statement. */
export const MANUAL_JOB_SECONDS_MAX = 6 * 3600;

/** A job that runs only when called. */
export type ManualJob = {
  readonly deadline_seconds: number;
  /**
   * The source of the job's time: the moment given with `--at`, or the database, which `--at` does
   * not affect.
   */
  readonly clock: 'at' | 'database';
  readonly run: (context: JobContext) => Promise<JobCounts>;
};

export type Job = ManualJob & {
  /** Cron expression, in UTC. */
  readonly schedule: string;
  /**
   * Which missed runs to catch up on after a time without the scheduler: the newest, or each of
   * them.
   */
  readonly missed: 'newest' | 'each';
  /**
   * Which of these missed times, long past, still need a run, newest first. If absent, all of them.
   */
  readonly needed?: (db: Queryable, times: readonly Date[]) => Promise<Date[]>;
  /** The effect of a missed run, described for the people who run the installation. */
  readonly missed_means: string;
};
