// What each stage of metering has recorded for a day: batches, hours, the ledger. Only reads. Spec: Staff
// (reconciliation).
import type { Queryable } from './client.ts';

export type DayOfProject = {
  project_id: string;
  organization_id: string;
  /** YYYY-MM-DD */
  day: string;
  requests: number;
  batched_credits: number;
  rolled_up_credits: number;
  charged_credits: number;
};

/** The days of an inclusive range, for these projects; days without any record are left out. */
export async function listDaysOfProjects(
  db: Queryable,
  { project_ids, from, to }: { project_ids: readonly string[]; from: string; to: string },
): Promise<DayOfProject[]> {
  return db.query(
    `with batched as (
       select project_id, (window_start at time zone 'UTC')::date as day, sum(requests) as requests,
         sum(credits) as credits
       from usage_batch_rows
       where window_start >= $2::date::timestamp at time zone 'UTC'
         and window_start < ($3::date + 1)::timestamp at time zone 'UTC' and project_id = any($1)
       group by 1, 2
     ), summed as (
       select project_id, (window_start at time zone 'UTC')::date as day, sum(credits) as credits
       from usage_hours
       where window_start >= $2::date::timestamp at time zone 'UTC'
         and window_start < ($3::date + 1)::timestamp at time zone 'UTC' and project_id = any($1)
       group by 1, 2
     ), charged as (
       select project_id, day, sum(delta) as credits from ledger
       where day between $2::date and $3::date and project_id = any($1) group by 1, 2
     ), days as (
       select project_id, day from batched union select project_id, day from summed
       union select project_id, day from charged
     )
     select days.project_id, p.organization_id, days.day, coalesce(b.requests, 0)::bigint as requests,
       coalesce(b.credits, 0)::bigint as batched_credits, coalesce(s.credits, 0)::bigint as rolled_up_credits,
       coalesce(c.credits, 0)::bigint as charged_credits
     from days join projects p on p.project_id = days.project_id
       left join batched b on b.project_id = days.project_id and b.day = days.day
       left join summed s on s.project_id = days.project_id and s.day = days.day
       left join charged c on c.project_id = days.project_id and c.day = days.day
     order by days.project_id, days.day`,
    [project_ids, from, to],
  );
}

/** Projects with anything metered or charged since midnight (UTC) of a day, in order of id. */
export async function listMeteredProjects(db: Queryable, since: Date): Promise<string[]> {
  const rows = await db.query<{ project_id: string }>(
    `select project_id from usage_hours where window_start >= $1
     union select project_id from usage_batch_rows where window_start >= $1
     union select project_id from ledger where day >= ($1 at time zone 'UTC')::date
     order by project_id`,
    [since],
  );
  return rows.map((row) => row.project_id);
}

export type SpoolLoss = {
  /** The day of the report: YYYY-MM-DD */
  day: string;
  spool_id: string;
  /**
   * Pieces that never came although later ones did: set aside by the delivery server, or lost with
   * its disk.
   */
  missing_batches: number;
  /** Deliveries that could not be written to its disk. */
  lost_deliveries: number;
};

/** Deliveries that are in no batch, by spool; for batches received since `since`. */
export async function listSpoolLosses(db: Queryable, since: Date): Promise<SpoolLoss[]> {
  return db.query(
    `with numbered as (
       select spool_id, received_at, lost_deliveries,
         sequence - lag(sequence, 1, sequence - 1) over (partition by spool_id order by sequence) - 1 as missing
       from usage_batches where received_at >= $1
     )
     select (received_at at time zone 'UTC')::date as day, spool_id, sum(missing)::bigint as missing_batches,
       sum(lost_deliveries)::bigint as lost_deliveries
     from numbered group by 1, 2 having sum(missing) > 0 or sum(lost_deliveries) > 0 order by 1, 2`,
    [since],
  );
}
