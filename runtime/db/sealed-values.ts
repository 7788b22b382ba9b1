// Every column with sealed values, the keys that they were sealed under (SQL function sealing_key, with an index for
// each column), and their replacement in place. Spec: Signing key; Events, Signature rules; Conventions.
import type { Database, Queryable, Transaction } from './client.ts';
import { onlyRow } from './rows.ts';

/** `owner`: the column with the id to which a value is bound. */
export const sealedColumns = [
  { table: 'signing_keys', column: 'secret_sealed', owner: 'kid' },
  { table: 'projects', column: 'callback_secret_sealed', owner: 'project_id' },
  { table: 'projects', column: 'previous_callback_secret_sealed', owner: 'project_id' },
  { table: 'older_callback_secrets', column: 'secret_sealed', owner: 'project_id' },
  { table: 'idempotency_keys', column: 'sealed_answer', owner: 'claim_id' },
] as const;

export type SealedColumn = (typeof sealedColumns)[number];

/** A value and the id that it is bound to. */
export type SealedValue = { owner: string; sealed: Buffer };

/** One value for each key under which a column has any; jumps through the index from key to key. */
export function listSealingKeys(
  db: Queryable,
  { table, column, owner }: SealedColumn,
): Promise<(SealedValue & { key_id: string })[]> {
  const first = (condition: string) =>
    `select sealing_key(${column}) as key_id, ${owner} as owner, ${column} as sealed from ${table}
     where sealing_key(${column}) ${condition} order by sealing_key(${column}), ${owner} limit 1`;
  return db.query(
    `with recursive found as (
       (${first('is not null')})
       union all
       select later.* from found, lateral (${first('> found.key_id')}) later
     )
     select key_id, owner, sealed from found`,
  );
}

/** How many values are under this key, in all columns. */
export async function countSealedUnder(db: Queryable, keyId: string): Promise<number> {
  const counts = sealedColumns.map(
    ({ table, column }) => `(select count(*) from ${table} where sealing_key(${column}) = $1)`,
  );
  const [row] = await db.query<{ count: number }>(`select ${counts.join(' + ')} as count`, [keyId]);
  return onlyRow(row).count;
}

export type ResealBatch = {
  key_id: string;
  /** The last value of the batch before. */
  after: SealedValue | undefined;
  rows_at_once: number;
  /** `skip`: leaves rows out that somebody else is writing. */
  locked: 'skip' | 'wait';
  /** The value under the new key; undefined leaves it. */
  reseal: (value: SealedValue) => Buffer | undefined;
};

/**
 * Replaces the next values under a key, in the order of their owners. A value that somebody else
 * has replaced meanwhile stays. Returns undefined after the last batch.
 */
export function resealBatch(
  db: Database,
  place: SealedColumn,
  batch: ResealBatch,
): Promise<{ last: SealedValue; resealed: number } | undefined> {
  return db.transaction(async (tx) => {
    const values = await lockValues(tx, place, batch);
    const last = values.at(-1);
    if (last === undefined) return undefined;
    const changes = values.flatMap((value) => {
      const resealed = batch.reseal(value);
      return resealed === undefined ? [] : [{ ...value, resealed }];
    });
    return { last, resealed: await replaceValues(tx, place, { key_id: batch.key_id, changes }) };
  });
}

function lockValues(
  tx: Transaction,
  { table, column, owner }: SealedColumn,
  { key_id, after, rows_at_once, locked }: ResealBatch,
): Promise<SealedValue[]> {
  return tx.query(
    `select ${owner} as owner, ${column} as sealed from ${table}
     where sealing_key(${column}) = $1 and (${owner}, ${column}) > ($2, $3)
     order by ${owner}, ${column} limit $4
     for no key update ${locked === 'skip' ? 'skip locked' : ''}`,
    [key_id, after?.owner ?? '', after?.sealed ?? Buffer.of(), rows_at_once],
  );
}

type Change = SealedValue & { resealed: Buffer };

/**
 * Nothing that a resource declares changes by it, so that no operator has to look. Not every table
 * has an index by owner alone, so the key leads to the rows, as when they were locked.
 */
async function replaceValues(
  tx: Transaction,
  { table, column, owner }: SealedColumn,
  { key_id, changes }: { key_id: string; changes: readonly Change[] },
): Promise<number> {
  await tx.query(`select set_config('tintype.declares', 'on', true)`);
  const rows = await tx.query(
    `update ${table} as row set ${column} = change.resealed
     from unnest($1::text[], $2::bytea[], $3::bytea[]) as change (owner, sealed, resealed)
     where row.${owner} = change.owner and row.${column} = change.sealed
       and sealing_key(row.${column}) = $4
     returning 1`,
    [
      changes.map((change) => change.owner),
      changes.map((change) => change.sealed),
      changes.map((change) => change.resealed),
      key_id,
    ],
  );
  return rows.length;
}
