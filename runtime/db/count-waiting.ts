// How many rows of a table wait, and since when: one aggregate for all such tables.
import type { Queryable } from './client.ts';
import { onlyRow } from './rows.ts';

/** Above this nobody needs the exact number, and counting would take long. */
export const COUNTED_MAX = 10_000;

export type Waiting = { count: number; oldest_seconds: number };

/** `rows`: a select of the single column `since`, with each branch limited to `$1`, COUNTED_MAX. */
export async function countWaiting(db: Queryable, rows: string): Promise<Waiting> {
  const [row] = await db.query<Waiting>(
    `select least(count(*), $1) as count,
       coalesce(greatest(extract(epoch from now() - min(since)), 0), 0)::float8 as oldest_seconds
     from (${rows}) waiting`,
    [COUNTED_MAX],
  );
  return onlyRow(row);
}
