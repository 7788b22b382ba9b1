// Table derived_reads: the day on which each derived image was last read, for the sweep. Spec: Delivery host.
import type { Queryable } from './client.ts';
import { STATEMENT_TIME } from './database-time.ts';
import { deleteRows } from './delete-rows.ts';

/** Read today by the database's clock, like the sweep; a stored later day stays. */
export async function upsertDerivedReads(db: Queryable, keys: readonly string[]): Promise<void> {
  // In a fixed order, so that two servers never deadlock.
  await db.query(
    `insert into derived_reads as r (derived_key, read_on)
     select key, (${STATEMENT_TIME} at time zone 'utc')::date
     from unnest($1::text[]) key group by key order by key
     on conflict (derived_key) do update set read_on = excluded.read_on
       where r.read_on < excluded.read_on`,
    [keys],
  );
}

/** Which of these were read on that day or later. */
export async function listDerivedReads(
  db: Queryable,
  { keys, since }: { keys: readonly string[]; since: Date },
): Promise<string[]> {
  const rows = await db.query<{ derived_key: string }>(
    `select derived_key from derived_reads
     where derived_key = any($1) and read_on >= ($2::timestamptz at time zone 'utc')::date`,
    [keys, since],
  );
  return rows.map(({ derived_key }) => derived_key);
}

export function deleteOldDerivedReads(db: Queryable, before: Date): Promise<number> {
  return deleteRows(db, {
    table: 'derived_reads',
    condition: `read_on < ($1::timestamptz at time zone 'utc')::date`,
    value: before,
  });
}
