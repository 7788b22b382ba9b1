// How much of table uploads waits to be processed, and for how long, read by the indexes of what is under way alone.
import type { Queryable } from './client.ts';

const COUNTED_MAX = 10_000;

/**
 * Those that wait for a worker, for the first time or again as theirs is gone, and those that an outage put off: a worker
 * tries these again and again, and comes to nothing. What is worked on waits for nobody.
 */
export async function countUploadsWaiting(
  db: Queryable,
): Promise<{ count: number; oldest_seconds: number }> {
  const [row] = await db.query<{ count: number; oldest_seconds: number | null }>(
    `select least(count(*), $1) as count,
       greatest(extract(epoch from now() - min(uploaded_at)), 0)::float8 as oldest_seconds
     from (
       (select uploaded_at from uploads where status = 'uploaded' order by uploaded_at limit $1)
       union all
       (select uploaded_at from uploads
        where status = 'processing' and (excused_count > 0 or lease_until <= now()) limit $1)
     ) waiting`,
    [COUNTED_MAX],
  );
  return { count: row?.count ?? 0, oldest_seconds: row?.oldest_seconds ?? 0 };
}
