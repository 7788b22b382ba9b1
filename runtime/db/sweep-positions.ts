// Table sweep_positions: how far a sweep over a bucket has come.
import type { Queryable } from './client.ts';

/** The last key that the sweep reached; empty at the beginning. */
export async function findSweepPosition(db: Queryable, sweep: string): Promise<string> {
  const [row] = await db.query<{ after_key: string }>(
    'select after_key from sweep_positions where sweep = $1',
    [sweep],
  );
  return row?.after_key ?? '';
}

export async function upsertSweepPosition(
  db: Queryable,
  { sweep, after_key }: { sweep: string; after_key: string },
): Promise<void> {
  await db.query(
    `insert into sweep_positions (sweep, after_key) values ($1, $2)
     on conflict (sweep) do update set after_key = excluded.after_key, updated_at = now()`,
    [sweep, after_key],
  );
}
