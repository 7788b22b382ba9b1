/**
 * The terms of the operator's leaders: only the newest may write, whatever an older one believes. A transaction that
 * has locked its term delays the next leader until it ends. Spec: Project.
 */
import type { Queryable, Transaction } from './client.ts';
import { prepared } from './prepared-statements.ts';

export type OperatorTerm = {
  /** Namespace and name. */
  lease: string;
  /**
   * Tells Leases of one name apart, such as another cluster's; null if an earlier version wrote it.
   */
  lease_uid: string | null;
  epoch: number;
  holder: string;
};

/** No effect if this term, or a later one, was written already. */
export async function raiseOperatorTerm(
  db: Queryable,
  { lease, lease_uid, epoch, holder }: OperatorTerm,
): Promise<void> {
  await db.query(
    `insert into operator_terms as term (lease, lease_uid, epoch, holder) values ($1, $2, $3, $4)
     on conflict (lease) do update
     set lease_uid = excluded.lease_uid, epoch = excluded.epoch, holder = excluded.holder, began_at = now()
     where term.epoch < excluded.epoch`,
    [lease, lease_uid, epoch, holder],
  );
}

/** Over all Leases. */
export async function findNewestOperatorTerm(db: Queryable): Promise<OperatorTerm | undefined> {
  const [term] = await db.query<OperatorTerm>(
    `select lease, lease_uid, epoch, holder from operator_terms
     order by began_at desc, epoch desc limit 1`,
  );
  return term;
}

/** A term as stored in the database. */
export type KnownTerm = OperatorTerm & {
  /** Changes if the table is recreated, whatever its rows. */
  table: string;
};

export async function findOperatorTerm(
  db: Queryable,
  lease: string,
): Promise<KnownTerm | undefined> {
  const [term] = await db.query<KnownTerm>(
    'select lease, lease_uid, epoch, holder, tableoid::text as table from operator_terms where lease = $1',
    [lease],
  );
  return term;
}

/**
 * The number of the newest term, 0 if there is none; also works before the database is at this
 * version.
 */
export async function findLastOperatorEpoch(db: Queryable, lease: string): Promise<number> {
  const [term] = await db.query<Pick<OperatorTerm, 'epoch'>>(
    'select epoch from operator_terms where lease = $1',
    [lease],
  );
  return term?.epoch ?? 0;
}

const LOCK = prepared(
  `select lease, lease_uid, epoch, holder, tableoid::text as table, set_config('tintype.declares', 'on', true)
   from operator_terms where lease = $1 for share`,
);

/**
 * Until the transaction ends nobody begins a later term, and its writes are not recorded in
 * declared_row_changes, unlike those of others.
 */
export async function lockOperatorTerm(
  tx: Transaction,
  lease: string,
): Promise<KnownTerm | undefined> {
  return (await tx.query<KnownTerm>(LOCK, [lease]))[0];
}
