// Rows that have served go in parts: however many there are, no statement takes longer than one may, and one that was
// broken off leaves less to the next run.
import type { Queryable } from './client.ts';

export type ServedRows = {
  table: string;
  /** SQL over $1, the value. */
  condition: string;
  value: unknown;
  rows_at_once?: number;
};

const ROWS_AT_ONCE = 10_000;

/** Returns how many went. */
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
    return row?.count ?? 0;
  });
}

/** Another part for as long as one found as many rows as it may take; returns how many it were in all. */
export async function repeatWhileFull(
  at_once: number,
  takePart: () => Promise<number>,
): Promise<number> {
  let taken = 0;
  for (let part = at_once; part === at_once; taken += part) part = await takePart();
  return taken;
}

/** The same of those whose time, in this column, is longer ago. */
export function deleteRowsOlderThan(
  db: Queryable,
  { table, column }: { table: string; column: string },
  ageSeconds: number,
): Promise<number> {
  const condition = `${column} < now() - make_interval(secs => $1)`;
  return deleteRows(db, { table, condition, value: ageSeconds });
}
