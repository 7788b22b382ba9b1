/** Table declared_row_changes: resources whose rows somebody else than the operator changed. Spec: Project (status). */
import type { Queryable, Transaction } from './client.ts';

export type DeclaredRowChange = {
  kind: string;
  owner_namespace: string;
  owner_name: string;
  version: number;
};

/** Those beyond this version, newest first. */
export function listDeclaredRowChanges(
  db: Queryable,
  { after, limit }: { after: number; limit: number },
): Promise<DeclaredRowChange[]> {
  return db.query<DeclaredRowChange>(
    'select * from declared_row_changes where version > $1 order by version desc limit $2',
    [after, limit],
  );
}

/** All but the newest so many. */
export async function deleteOldDeclaredRowChanges(tx: Transaction, kept: number): Promise<void> {
  await tx.query(
    `delete from declared_row_changes
     where version <= (select version from declared_row_changes order by version desc offset $1 limit 1)`,
    [kept],
  );
}
