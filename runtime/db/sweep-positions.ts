// Table sweep_positions: how far a sweep over a bucket has come, and how far usage batches have been summed. Spec:
// Metering.
import type { Queryable, Transaction } from './client.ts';
import { onlyRow } from './rows.ts';

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

const ROLLUP = 'hourly-rollup';

/**
 * How far usage batches have been summed. A time alone is not enough: after a clock was set back, batches arrive with
 * times that a run has already passed.
 */
export type RollupMark = {
  /** The newest batch that was summed. */
  batch_id: number;
  /** When no newer one was there yet, or when that one was received. */
  at: Date;
};

/** Undefined before the first sum. */
export async function findRollupMark(db: Queryable): Promise<RollupMark | undefined> {
  const [row] = await db.query<RollupMark>(
    'select after_key::bigint as batch_id, updated_at as at from sweep_positions where sweep = $1',
    [ROLLUP],
  );
  return row;
}

/** The mark at most so many batches further, and whether it is the end of all. */
export async function findNextMark(
  db: Queryable,
  { mark, limit }: { mark: RollupMark | undefined; limit: number },
): Promise<RollupMark & { is_end: boolean }> {
  const [row] = await db.query<RollupMark & { is_end: boolean }>(
    `select coalesce(max(batch_id), $1) as batch_id, count(*) < $2 as is_end,
       case when count(*) < $2 then now() else (array_agg(received_at order by batch_id desc))[1] end as at
     from (
       select batch_id, received_at from usage_batches where batch_id > $1 order by batch_id limit $2
     ) next`,
    [mark?.batch_id ?? 0, limit],
  );
  return onlyRow(row);
}

/** Call it under the lock of the hours, in the transaction that sums its batches. */
export async function upsertRollupMark(
  tx: Transaction,
  { batch_id, at }: RollupMark,
): Promise<void> {
  await tx.query(
    `insert into sweep_positions (sweep, after_key, updated_at) values ($1, $2, $3)
     on conflict (sweep) do update set after_key = excluded.after_key, updated_at = excluded.updated_at`,
    [ROLLUP, String(batch_id), at],
  );
}
