// How much of table uploads waits to be processed, and for how long, read by the index of what waits alone.
import type { Queryable } from './client.ts';

const COUNTED_MAX = 10_000;

export async function countUploadsWaiting(
  db: Queryable,
): Promise<{ count: number; oldest_seconds: number }> {
  const [row] = await db.query<{ count: number; oldest_seconds: number | null }>(
    `select count(*) as count,
       greatest(extract(epoch from now() - min(uploaded_at)), 0)::float8 as oldest_seconds
     from (
       select uploaded_at from uploads where status = 'uploaded' order by uploaded_at limit $1
     ) waiting`,
    [COUNTED_MAX],
  );
  return { count: row?.count ?? 0, oldest_seconds: row?.oldest_seconds ?? 0 };
}
