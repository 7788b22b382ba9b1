// Partitions of table usage_batch_rows, one per UTC day: created ahead of time, dropped as a whole. Rows of a day
// without one are in usage_batch_rows_other, with no disadvantage. Spec: Metering.
import type { Database, Queryable } from './client.ts';
import { deleteRows } from './delete-rows.ts';
import { onlyRow } from './rows.ts';

/**
 * Creates the missing partitions of today and the days ahead; returns how many. Serialized: two
 * callers at once would each read what the other must lock, and create none.
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

/**
 * Drops the partitions of days before `before`, and deletes older rows outside of partitions;
 * returns how many partitions were dropped.
 */
export async function deleteUsagePartitions(db: Queryable, before: Date): Promise<number> {
  const [row] = await db.query<{ dropped: number }>(
    `select drop_usage_days(($1::timestamptz at time zone 'UTC')::date) as dropped`,
    [before],
  );
  const elsewhere = { table: 'usage_batch_rows_other', condition: 'window_start < $1' };
  await deleteRows(db, { ...elsewhere, value: before });
  return onlyRow(row).dropped;
}
