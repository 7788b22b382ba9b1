import type { Queryable } from '../../runtime/db/client.ts';

/** Computes the expected balance from the rows: grants minus their reversals minus charges. */
export async function countBalance(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.query<{ balance: number }>(
    `select ((select coalesce(sum(credits), 0) from credit_grants where organization_id = $1)
       - (select coalesce(sum(r.credits), 0) from credit_reversals r join credit_grants g using (grant_id)
          where g.organization_id = $1)
       - (select coalesce(sum(delta), 0) from ledger where organization_id = $1))::bigint as balance`,
    [organizationId],
  );
  return row?.balance ?? 0;
}
