// Table usage_days: the sums of a day's hours (UTC), and the charge for it. Spec: Metering; Usage record.
import type { Queryable, Transaction } from './client.ts';

export type UsageDayRow = {
  project_id: string;
  /** YYYY-MM-DD */
  day: string;
  requests: number;
  bytes: number;
  transforms: number;
  credits: number;
  charged_credits: number;
  hours_closed: number;
  finalized_at: Date | null;
  computed_at: Date;
};

/**
 * Sums the day's hours of a project and writes the charge; finalized once all 24 hours are closed.
 */
export async function foldUsageDay(
  tx: Transaction,
  day: Pick<UsageDayRow, 'project_id' | 'day' | 'charged_credits' | 'hours_closed'>,
): Promise<void> {
  await tx.query(
    `insert into usage_days as d (project_id, day, requests, bytes, transforms, credits, charged_credits,
       hours_closed, finalized_at)
     select $1, $2::date, coalesce(sum(requests), 0), coalesce(sum(bytes), 0), coalesce(sum(transforms), 0),
       coalesce(sum(credits), 0), $3, $4::smallint, case when $4::smallint = 24 then now() end
     from usage_hours where project_id = $1
       and window_start >= $2::date::timestamp at time zone 'UTC'
       and window_start < ($2::date + 1)::timestamp at time zone 'UTC'
     on conflict (project_id, day) do update set requests = excluded.requests, bytes = excluded.bytes,
       transforms = excluded.transforms, credits = excluded.credits, charged_credits = excluded.charged_credits,
       hours_closed = greatest(d.hours_closed, excluded.hours_closed), finalized_at = coalesce(d.finalized_at, excluded.finalized_at),
       computed_at = now()`,
    [day.project_id, day.day, day.charged_credits, day.hours_closed],
  );
}

/** The days of an inclusive range, oldest first. */
export async function listUsageDays(
  db: Queryable,
  { project_id, from, to }: { project_id: string; from: string; to: string },
): Promise<UsageDayRow[]> {
  return db.query(
    'select * from usage_days where project_id = $1 and day between $2 and $3 order by day',
    [project_id, from, to],
  );
}
