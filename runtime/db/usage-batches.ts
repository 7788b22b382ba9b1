// Tables usage_batches and usage_batch_rows: flushed pieces of a delivery server's spool. Spec: Metering.
import type { Queryable } from './client.ts';

export type UsageBatchEntry = {
  project_id: string;
  /** Start of the UTC hour in which the responses ended. */
  window_start: Date;
  requests: number;
  bytes: number;
  transforms: number;
  credits: number;
};

export type NewUsageBatch = {
  spool_id: string;
  sequence: number;
  /** At most one for each project and hour. */
  entries: readonly UsageBatchEntry[];
};

/** False when this piece of the spool is there already: it counts once, however often it comes. */
export async function insertUsageBatch(
  db: Queryable,
  { spool_id, sequence, entries }: NewUsageBatch,
): Promise<boolean> {
  const [row] = await db.query<{ is_new: boolean }>(
    `with batch as (
       insert into usage_batches (spool_id, sequence) values ($1, $2)
       on conflict (spool_id, sequence) do nothing returning batch_id
     ), entries as (
       insert into usage_batch_rows (batch_id, project_id, window_start, requests, bytes, transforms, credits)
       select batch_id, e.project_id, e.window_start, e.requests, e.bytes, e.transforms, e.credits
       from batch, jsonb_to_recordset($3) as e (project_id text, window_start timestamptz, requests bigint,
         bytes bigint, transforms bigint, credits bigint)
     )
     select exists (select from batch) as is_new`,
    [spool_id, sequence, JSON.stringify(entries)],
  );
  return row?.is_new ?? false;
}

/**
 * Batches whose every row belongs to an hour before `before`: those hours are then never folded again, so their sums
 * stand. Returns how many went.
 */
export async function deleteOldUsageBatches(db: Queryable, before: Date): Promise<number> {
  const rows = await db.query(
    `delete from usage_batches b where received_at < $1
       and not exists (select from usage_batch_rows r where r.batch_id = b.batch_id and window_start >= $1)
     returning batch_id`,
    [before],
  );
  return rows.length;
}

/**
 * The hours, from the first to the last, that batches received since an instant speak of; of all batches without
 * one. Undefined when there are none.
 */
export async function findHoursTouched(
  db: Queryable,
  { since, from }: { since: Date | null; from: Date },
): Promise<{ first: Date; last: Date } | undefined> {
  const [row] = await db.query<{ first: Date | null; last: Date | null }>(
    `select min(window_start) as first, max(window_start) as last
     from usage_batches b join usage_batch_rows r on r.batch_id = b.batch_id
     where ($1::timestamptz is null or received_at >= $1) and window_start >= $2`,
    [since, from],
  );
  const { first = null, last = null } = row ?? {};
  return first === null || last === null ? undefined : { first, last };
}
