// Partitions of table usage_batch_rows, one for each UTC day: made ahead of time, dropped as a whole. Rows of a day that
// has none stand in usage_batch_rows_other, and lose nothing by it. Spec: Metering.
import type { Queryable } from './client.ts';

/** Those of today and of so many days more that are not there yet; returns how many were made. */
export async function insertUsagePartitions(db: Queryable, daysAhead: number): Promise<number> {
  const rows = await db.query<{ is_new: boolean }>(
    `select add_usage_day((now() at time zone 'UTC')::date + ahead) as is_new from generate_series(0, $1::integer) ahead`,
    [daysAhead],
  );
  return rows.filter(({ is_new }) => is_new).length;
}

const ROWS_AT_ONCE = 50_000;

/** Those of days that ended before an hour, and rows elsewhere of hours before it; returns how many partitions went. */
export async function deleteUsagePartitions(db: Queryable, before: Date): Promise<number> {
  const [row] = await db.query<{ dropped: number }>(
    `select drop_usage_days(($1::timestamptz at time zone 'UTC')::date) as dropped`,
    [before],
  );
  for (let gone = ROWS_AT_ONCE; gone === ROWS_AT_ONCE; ) {
    const rows = await db.query(
      `delete from usage_batch_rows_other where ctid = any(array(
         select ctid from usage_batch_rows_other where window_start < $1 limit $2)) returning 1`,
      [before, ROWS_AT_ONCE],
    );
    gone = rows.length;
  }
  return row?.dropped ?? 0;
}
