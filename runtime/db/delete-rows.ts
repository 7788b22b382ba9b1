// Deletes obsolete rows in batches: however many there are, no statement exceeds its time limit, and an interrupted run
// leaves less to the next.
import type { Queryable } from './client.ts';
import { onlyRow } from './rows.ts';

export type ServedRows = {
  table: string;
  /** SQL over $1, the value. */
  condition: string;
  value: unknown;
  rows_at_once?: number;
};

const ROWS_AT_ONCE = 10_000;

/** Returns how many rows were deleted. */
export async function deleteRows(
  db: Queryable,
  { table, condition, value, rows_at_once = ROWS_AT_ONCE }: ServedRows,
): Promise<number> {
  return repeatWhileFull(rows_at_once, async () => {
    const [row] = await db.query<{ count: number }>(
      `with gone as (
         delete from ${table} where ctid = any(array(select ctid from ${table} where ${condition} limit $2)) returning 1
       )
       select count(*) from gone`,
      [value, rows_at_once],
    );
    return onlyRow(row).count;
  });
}

/** Runs another batch for as long as the last one was full; returns the total number of rows. */
export async function repeatWhileFull(
  at_once: number,
  takePart: () => Promise<number>,
): Promise<number> {
  let taken = 0;
  for (let part = at_once; part === at_once; taken += part) part = await takePart();
  return taken;
}

/** Deletes rows whose time, in this column, is longer ago. */
export function deleteRowsOlderThan(
  db: Queryable,
  { table, column }: { table: string; column: string },
  ageSeconds: number,
): Promise<number> {
  const condition = `${column} < now() - make_interval(secs => $1)`;
  return deleteRows(db, { table, condition, value: ageSeconds });
}
