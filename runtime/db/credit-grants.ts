// Table credit_grants: credits that were added to a balance, in one statement with it. Spec: Organization quota.
import type { Transaction } from './client.ts';
import type { OrganizationRow } from './organizations.ts';

export type NewCreditGrant = {
  organization_id: string;
  credits: number;
  source: 'trial' | 'plan' | 'staff' | 'provider_a' | 'provider_b';
  /** Makes the grant happen once: a second one of the same source and id changes nothing. */
  external_id: string;
};

/** The organization with its new balance; undefined when this grant was there already. */
export async function insertCreditGrant(
  tx: Transaction,
  { organization_id, credits, source, external_id }: NewCreditGrant,
): Promise<OrganizationRow | undefined> {
  const rows = await tx.query<OrganizationRow>(
    `with granted as (
       insert into credit_grants (organization_id, credits, source, external_id) values ($1, $2, $3, $4)
       on conflict (source, external_id) do nothing returning organization_id, credits
     )
     update organizations set credit_balance = credit_balance + granted.credits, updated_at = now()
     from granted where organizations.organization_id = granted.organization_id returning organizations.*`,
    [organization_id, credits, source, external_id],
  );
  return rows[0];
}
