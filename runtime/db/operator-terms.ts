/**
 * The terms of the operator's leaders: the newest one alone may write, whatever an older one believes. A transaction
 * that has locked its term holds up the next leader until it has ended. Spec: Project.
 */
import type { Queryable, Transaction } from './client.ts';

export type OperatorTerm = { lease: string; epoch: number; holder: string };

/** Nothing where this term, or a later one, has been written already. */
export async function raiseOperatorTerm(
  db: Queryable,
  { lease, epoch, holder }: OperatorTerm,
): Promise<void> {
  await db.query(
    `insert into operator_terms as term (lease, epoch, holder) values ($1, $2, $3)
     on conflict (lease) do update
     set epoch = excluded.epoch, holder = excluded.holder, began_at = now()
     where term.epoch < excluded.epoch`,
    [lease, epoch, holder],
  );
}

export async function findOperatorTerm(
  db: Queryable,
  lease: string,
): Promise<OperatorTerm | undefined> {
  const [term] = await db.query<OperatorTerm>(
    'select lease, epoch, holder from operator_terms where lease = $1',
    [lease],
  );
  return term;
}

/**
 * Until the end of the transaction nobody begins a later one, and what it writes is not noted in declared_row_changes as
 * what others write is.
 */
export async function lockOperatorTerm(
  tx: Transaction,
  lease: string,
): Promise<OperatorTerm | undefined> {
  const [term] = await tx.query<OperatorTerm>(
    `select lease, epoch, holder, set_config('tintype.declares', 'on', true)
     from operator_terms where lease = $1 for share`,
    [lease],
  );
  return term;
}
