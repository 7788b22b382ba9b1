// Partitions of table usage_batch_rows, one for each UTC day: made ahead of time, dropped as a whole. Rows of a day that
// has none stand in usage_batch_rows_other, and lose nothing by it. Spec: Metering.
import type { Database, Queryable } from './client.ts';
import { deleteRows } from './delete-rows.ts';

/**
 * Those of today and of so many days more that are not there yet; returns how many were made. One after another: two at
 * once would each read what the other one must lock, and make none.
 */
export async function insertUsagePartitions(db: Database, daysAhead: number): Promise<number> {
  const rows = await db.transaction(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtext('tintype.usage_partitions'))`);
    return tx.query<{ is_new: boolean }>(
      `select add_usage_day((now() at time zone 'UTC')::date + ahead) as is_new from generate_series(0, $1::integer) ahead`,
      [daysAhead],
    );
  });
  return rows.filter(({ is_new }) => is_new).length;
}

/** Those of days that ended before an hour, and rows elsewhere of hours before it; returns how many partitions went. */
export async function deleteUsagePartitions(db: Queryable, before: Date): Promise<number> {
  const [row] = await db.query<{ dropped: number }>(
    `select drop_usage_days(($1::timestamptz at time zone 'UTC')::date) as dropped`,
    [before],
  );
  const elsewhere = { table: 'usage_batch_rows_other', condition: 'window_start < $1' };
  await deleteRows(db, { ...elsewhere, value: before });
  return row?.dropped ?? 0;
}
