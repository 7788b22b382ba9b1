// Table job_runs: of each scheduled job one run at a time, over all processes; a run that stops renewing its lease is
// lost, and the next may start.
import type { Queryable } from './client.ts';
import { deleteRowsOlderThan } from './delete-rows.ts';

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

/** False when the run was given up as lost: its work is to stop. */
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
 * Whether a run of the job as if at this time, or at a later one that has come, ended well. Where runs are looked for
 * leaves a minute to clocks that differ.
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

/** The newest run of a job that ended well. */
export async function findLastJobRun(db: Queryable, job: string): Promise<JobRunRow | undefined> {
  const rows = await db.query<JobRunRow>(
    `select * from job_runs where job = $1 and outcome = 'done' order by started_at desc limit 1`,
    [job],
  );
  return rows[0];
}

/**
 * The newest run of each of these jobs that ended well. One that never did is told as of the newest migration: since
 * then it might have, and one that came with it is not late before it was due.
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

/** Of each of these jobs, the runs since the newest one that ended well that failed or were killed, to a hundred. */
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

/** Ended ones that are older; returns how many went. */
export function deleteOldJobRuns(db: Queryable, ageSeconds: number): Promise<number> {
  return deleteRowsOlderThan(db, { table: 'job_runs', column: 'finished_at' }, ageSeconds);
}

/**
 * Of these times, the newest first, those as which no run of the job ended well once they had come, give or take a
 * minute; what ran well as if at another time says nothing of them.
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

/** Since when jobs run here, whichever they are and whatever became of them, as far back as runs are kept. */
export async function findFirstRunTime(db: Queryable): Promise<Date | undefined> {
  const [row] = await db.query<{ first: Date }>(
    'select least(started_at, scheduled_for) as first from job_runs order by run_id limit 1',
  );
  return row?.first;
}

/** As which time a job ran last and well, once that had come: give or take a minute, as clocks differ. */
export async function findLastScheduledFor(db: Queryable, job: string): Promise<Date | undefined> {
  const [row] = await db.query<{ last: Date | null }>(
    `select max(scheduled_for) as last from job_runs
     where job = $1 and outcome = 'done' and scheduled_for <= now()
       and started_at > scheduled_for - interval '1 minute'`,
    [job],
  );
  return row?.last ?? undefined;
}
