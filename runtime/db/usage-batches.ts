// Tables usage_batches and usage_batch_rows: flushed pieces of a delivery server's spool. Spec: Metering.
import type { Queryable } from './client.ts';
import { deleteRows } from './delete-rows.ts';
import { onlyRow } from './rows.ts';
import type { RollupMark } from './sweep-positions.ts';

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
  /** At most one per project and hour. */
  entries: readonly UsageBatchEntry[];
  /** Deliveries since the previous batch that the spool could not store. */
  lost_deliveries?: number;
};

/** False if this piece of the spool exists already: it counts once, however often it arrives. */
export async function insertUsageBatch(
  db: Queryable,
  { spool_id, sequence, entries, lost_deliveries = 0 }: NewUsageBatch,
): Promise<boolean> {
  const hours = new Set(entries.map(({ window_start }) => window_start.getTime()));
  const [row] = await db.query<{ is_new: boolean }>(
    `with batch as (
       insert into usage_batches (spool_id, sequence, hours, lost_deliveries) values ($1, $2, $4, $5)
       on conflict (spool_id, sequence) do nothing returning batch_id
     ), entries as (
       insert into usage_batch_rows (batch_id, project_id, window_start, requests, bytes, transforms, credits)
       select batch_id, e.project_id, e.window_start, e.requests, e.bytes, e.transforms, e.credits
       from batch, jsonb_to_recordset($3) as e (project_id text, window_start timestamptz, requests bigint,
         bytes bigint, transforms bigint, credits bigint)
     )
     select exists (select from batch) as is_new`,
    [
      spool_id,
      sequence,
      JSON.stringify(entries),
      [...hours].map((hour) => new Date(hour)),
      lost_deliveries,
    ],
  );
  return onlyRow(row).is_new;
}

/**
 * Deletes batches with all rows in hours before `before`: those hours are never folded again, so
 * their sums stand. Returns how many.
 */
export function deleteOldUsageBatches(db: Queryable, before: Date): Promise<number> {
  return deleteRows(db, {
    table: 'usage_batches',
    condition: `received_at < $1 and $1 > all(coalesce(hours, '{}'))`,
    value: before,
  });
}

/**
 * The hours from `from` on, oldest first, in batches behind the mark up to `until`, and in those that came into sight
 * after the mark was made: no transaction that inserts a batch lasts 10 minutes.
 */
export async function listHoursTouched(
  db: Queryable,
  { mark, until, from }: { mark: RollupMark | undefined; until: number; from: Date },
): Promise<Date[]> {
  const rows = await db.query<{ hour: Date }>(
    `select distinct hour from usage_batches b cross join lateral (
       select unnest(b.hours) as hour
       union all
       select window_start from usage_batch_rows r where b.hours is null and r.batch_id = b.batch_id
     ) told
     where (b.batch_id > $1 and b.batch_id <= $2
         or b.received_at between $3::timestamptz - interval '10 minutes' and $3 + interval '10 minutes')
       and hour >= $4 order by hour`,
    [mark?.batch_id ?? 0, until, mark?.at ?? null, from],
  );
  return rows.map(({ hour }) => hour);
}
