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
  /** The newest batch at that time. */
  batch_id: number;
  /** When the run began. */
  at: Date;
};

/** Undefined before the first success. */
export async function findRollupMark(db: Queryable): Promise<RollupMark | undefined> {
  const [row] = await db.query<RollupMark>(
    'select after_key::bigint as batch_id, updated_at as at from sweep_positions where sweep = $1',
    [ROLLUP],
  );
  return row;
}

/**
 * The mark for a run that begins; read it before any batch. The last mark's batches may be deleted
 * by now.
 */
export async function findNextMark(db: Queryable, last?: RollupMark): Promise<RollupMark> {
  const [row] = await db.query<RollupMark>(
    'select greatest(max(batch_id), $1) as batch_id, now() as at from usage_batches',
    [last?.batch_id ?? 0],
  );
  return onlyRow(row);
}

/**
 * Call it after success, under the lock of the hours: nobody is folding by an older mark then. Of
 * two concurrent runs, the mark of the one that read more batches stays.
 */
export async function upsertRollupMark(
  tx: Transaction,
  { batch_id, at }: RollupMark,
): Promise<void> {
  await tx.query(
    `insert into sweep_positions as p (sweep, after_key, updated_at) values ($1, $2, $3)
     on conflict (sweep) do update set after_key = excluded.after_key, updated_at = excluded.updated_at
     where p.after_key::bigint <= excluded.after_key::bigint`,
    [ROLLUP, String(batch_id), at],
  );
}
