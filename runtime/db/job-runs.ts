// Table job_runs: one run at a time per scheduled job, over all processes. A run that stops renewing its lease is lost,
// and the next may start.
import type { Queryable } from './client.ts';
import { deleteRows } from './delete-rows.ts';

export type JobRunRow = {
  run_id: number;
  job: string;
  scheduled_for: Date;
  started_at: Date;
  lease_until: Date;
  finished_at: Date | null;
  outcome: 'done' | 'failed' | 'lost' | null;
  error: string | null;
  counts: Record<string, number>;
};

export type NewJobRun = { job: string; scheduled_for: Date; lease_seconds: number };

/** Undefined while another run of the job is under way. */
export async function insertJobRun(
  db: Queryable,
  { job, scheduled_for, lease_seconds }: NewJobRun,
): Promise<JobRunRow | undefined> {
  await db.query(
    `update job_runs set finished_at = now(), outcome = 'lost'
     where job = $1 and finished_at is null and lease_until <= now()`,
    [job],
  );
  const rows = await db.query<JobRunRow>(
    `insert into job_runs (job, scheduled_for, lease_until)
     values ($1, $2, now() + make_interval(secs => $3))
     on conflict (job) where finished_at is null do nothing returning *`,
    [job, scheduled_for, lease_seconds],
  );
  return rows[0];
}

/**
 * Corrects runs of the job that a clock dated that was set back since: they ended by now, so that none counts as a run
 * for its time when that comes, and none keeps the job from running until its lease is over.
 */
export async function updateRunsAhead(db: Queryable, job: string): Promise<void> {
  await db.query(
    `update job_runs set started_at = least(started_at, now()), scheduled_for = least(scheduled_for, now()),
       finished_at = case when finished_at > now() then now() else finished_at end,
       lease_until = least(lease_until, now() + interval '1 minute')
     where job = $1
       and (started_at > now() or (finished_at is null and lease_until > now() + interval '1 minute'))`,
    [job],
  );
}

/** The run of a job that is under way and not yet lost. */
export async function findRunningJobRun(
  db: Queryable,
  job: string,
): Promise<Pick<JobRunRow, 'run_id' | 'lease_until'> | undefined> {
  const [row] = await db.query<Pick<JobRunRow, 'run_id' | 'lease_until'>>(
    'select run_id, lease_until from job_runs where job = $1 and finished_at is null and lease_until > now()',
    [job],
  );
  return row;
}

/** False if the run was given up as lost: its work must stop. */
export async function updateJobRunLease(
  db: Queryable,
  { run_id, lease_seconds }: { run_id: number; lease_seconds: number },
): Promise<boolean> {
  const rows = await db.query(
    `update job_runs set lease_until = now() + make_interval(secs => $2)
     where run_id = $1 and finished_at is null returning run_id`,
    [run_id, lease_seconds],
  );
  return rows.length > 0;
}

export async function updateJobRunFinished(
  db: Queryable,
  run: Pick<JobRunRow, 'run_id' | 'error'> & {
    outcome: 'done' | 'failed';
    counts?: Readonly<Record<string, number>>;
  },
): Promise<void> {
  await db.query(
    `update job_runs set finished_at = now(), outcome = $2, error = $3, counts = $4
     where run_id = $1 and finished_at is null`,
    [run.run_id, run.outcome, run.error, run.counts ?? {}],
  );
}

/**
 * Whether a run of the job for this time, or for a later one up to now, succeeded. Like the other
 * searches for runs, it allows clocks to differ by a minute.
 */
export async function hasDoneJobRun(
  db: Queryable,
  { job, scheduled_for }: Pick<NewJobRun, 'job' | 'scheduled_for'>,
): Promise<boolean> {
  const rows = await db.query(
    `select from job_runs where job = $1 and outcome = 'done' and scheduled_for between $2 and now()
       and started_at > $2::timestamptz - interval '1 minute' limit 1`,
    [job, scheduled_for],
  );
  return rows.length > 0;
}

/**
 * The newest successful run of each of these jobs. A job that never succeeded gets the time of the
 * newest migration: since then it could have, and a job that came with the migration is not late
 * before it was due.
 */
export async function listDoneJobRuns(
  db: Queryable,
  jobs: readonly string[],
): Promise<(Pick<JobRunRow, 'job' | 'counts'> & { finished_at: Date })[]> {
  return db.query(
    `select asked.job, coalesce(r.finished_at, migrated.at) as finished_at, coalesce(r.counts, '{}') as counts
     from unnest($1::text[]) asked (job) left join lateral (
       select * from job_runs where job = asked.job and outcome = 'done' order by started_at desc limit 1
     ) r on true cross join (
       select max(run_on) at time zone current_setting('TimeZone') as at from schema_migrations
     ) migrated`,
    [jobs],
  );
}

/**
 * For each of these jobs, how many runs failed or were killed since its newest success, up to a
 * hundred.
 */
export async function countFailedJobRuns(
  db: Queryable,
  jobs: readonly string[],
): Promise<{ job: string; failed: number }[]> {
  return db.query(
    `select asked.job, (
       select count(*)::int from (
         select from job_runs r
         where r.job = asked.job and r.started_at > coalesce(done.started_at, '-infinity')
           and (r.outcome <> 'done' or (r.finished_at is null and r.lease_until <= now()))
         limit 100
       ) ended
     ) as failed
     from unnest($1::text[]) asked (job) left join lateral (
       select started_at from job_runs where job = asked.job and outcome = 'done' order by started_at desc limit 1
     ) done on true`,
    [jobs],
  );
}

/**
 * Deletes older ended runs, except the newest success of each job from that long ago: after a time
 * in which nothing ran, it tells since when runs were missed. Returns how many were deleted.
 */
export function deleteOldJobRuns(db: Queryable, ageSeconds: number): Promise<number> {
  const ago = 'now() - make_interval(secs => $1)';
  return deleteRows(db, {
    table: 'job_runs',
    condition: `finished_at < ${ago} and (outcome <> 'done' or exists (select from job_runs newer
      where newer.job = job_runs.job and newer.outcome = 'done' and newer.started_at < ${ago}
        and newer.started_at > job_runs.started_at and newer.scheduled_for >= job_runs.scheduled_for))`,
    value: ageSeconds,
  });
}

/**
 * Of these times, those without a successful run for them that started after the time, give or take
 * a minute; newest first. A run for a time in advance does not count.
 */
export async function listTimesNotRun(
  db: Queryable,
  { job, times }: { job: string; times: readonly Date[] },
): Promise<Date[]> {
  const rows = await db.query<{ due: Date }>(
    `select due from unnest($2::timestamptz[]) due
     where not exists (
       select from job_runs where job = $1 and outcome = 'done' and scheduled_for = due
         and started_at > due - interval '1 minute'
     ) order by due desc`,
    [job, times],
  );
  return rows.map(({ due }) => due);
}

/** When the first kept run of any job started, whatever its result. */
export async function findFirstRunTime(db: Queryable): Promise<Date | undefined> {
  const [row] = await db.query<{ first: Date }>(
    'select least(started_at, scheduled_for) as first from job_runs order by run_id limit 1',
  );
  return row?.first;
}

/**
 * The latest time that a successful run of the job was for, if it started after that time, give or
 * take a minute, as clocks differ; up to now, or of the runs that started before a time.
 */
export async function findLastScheduledFor(
  db: Queryable,
  { job, before }: { job: string; before?: Date },
): Promise<Date | undefined> {
  const [row] = await db.query<{ last: Date | null }>(
    `select max(scheduled_for) as last from job_runs
     where job = $1 and outcome = 'done' and scheduled_for <= now()
       and started_at > scheduled_for - interval '1 minute' and started_at < coalesce($2::timestamptz, 'infinity')`,
    [job, before ?? null],
  );
  return row?.last ?? undefined;
}
