// How much waits in a table, and for how long: one aggregate for all of them.
import type { Queryable } from './client.ts';

/** Beyond it nobody needs the exact number, and reading it would take long. */
export const COUNTED_MAX = 10_000;

export type Waiting = { count: number; oldest_seconds: number };

/** `rows`: a select of the one column `since`, each of its branches limited to `$1`, COUNTED_MAX. */
export async function countWaiting(db: Queryable, rows: string): Promise<Waiting> {
  const [row] = await db.query<Waiting>(
    `select least(count(*), $1) as count,
       coalesce(greatest(extract(epoch from now() - min(since)), 0), 0)::float8 as oldest_seconds
     from (${rows}) waiting`,
    [COUNTED_MAX],
  );
  return row ?? { count: 0, oldest_seconds: 0 };
}
