/** Table declared_row_changes: resources whose rows somebody else than the operator changed. Spec: Project (status). */
import type { Queryable, Transaction } from './client.ts';

export type DeclaredRowChange = {
  kind: string;
  owner_namespace: string;
  owner_name: string;
  /** Another one with each change. */
  version: number;
};

/** `namespaces`: none named, of all. */
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

/** What has changed again since it was read stays, and nobody who changes something just now is waited for. */
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
