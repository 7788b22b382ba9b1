/**
 * Table declared_row_changes: resources whose rows were changed by somebody other than the operator. Spec: Project
 * (status).
 */
import type { Queryable, Transaction } from './client.ts';

export type DeclaredRowChange = {
  kind: string;
  owner_namespace: string;
  owner_name: string;
  /** New with each change. */
  version: number;
};

/** `namespaces`: empty means all. */
export function listDeclaredRowChanges(
  db: Queryable,
  { namespaces, limit }: { namespaces: readonly string[]; limit: number },
): Promise<DeclaredRowChange[]> {
  return db.query<DeclaredRowChange>(
    `select * from declared_row_changes
     where cardinality($1::text[]) = 0 or owner_namespace = any($1) order by version limit $2`,
    [namespaces, limit],
  );
}

/**
 * Keeps changes that are newer than the ones read, and does not wait for transactions that are
 * changing a row now.
 */
export async function deleteDeclaredRowChanges(
  tx: Transaction,
  changes: readonly DeclaredRowChange[],
): Promise<void> {
  await tx.query(
    `delete from declared_row_changes where version in (
       select version from declared_row_changes where version = any($1) for update skip locked)`,
    [changes.map(({ version }) => version)],
  );
}
