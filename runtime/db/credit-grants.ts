// Table credit_grants: credits added to a balance, in the same statement. Spec: Organization quota.
import type { Transaction } from './client.ts';
import { lockOrganization, type OrganizationRow } from './organizations.ts';

export type NewCreditGrant = {
  organization_id: string;
  credits: number;
  source: 'trial' | 'plan' | 'staff' | 'provider_a' | 'provider_b';
  /** Makes the grant idempotent: a second one with the same source and id changes nothing. */
  external_id: string;
};

/** The organization with its new balance; undefined if this grant already existed. */
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

export type CreditGrantRow = {
  grant_id: number;
  organization_id: string;
  credits: number;
  /** How much of it was taken back so far. */
  reversed: number;
};

/** Locks the organization's row too, so that two reversals see each other. */
export async function lockCreditGrant(
  tx: Transaction,
  { source, external_id }: Pick<NewCreditGrant, 'source' | 'external_id'>,
): Promise<CreditGrantRow | undefined> {
  const find = async () => {
    const [row] = await tx.query<CreditGrantRow>(
      `select grant_id, organization_id, credits,
         (select coalesce(sum(r.credits), 0)::bigint from credit_reversals r where r.grant_id = g.grant_id) as reversed
       from credit_grants g where source = $1 and external_id = $2`,
      [source, external_id],
    );
    return row;
  };
  const found = await find();
  if (found === undefined) return undefined;
  await lockOrganization(tx, found.organization_id);
  return find();
}

/** Takes back credits of a grant, once per external id; false if that id did it before. */
export async function insertCreditReversal(
  tx: Transaction,
  { grant_id, external_id, credits }: { grant_id: number; external_id: string; credits: number },
): Promise<boolean> {
  const rows = await tx.query(
    `with reversed as (
       insert into credit_reversals (grant_id, external_id, credits) values ($1, $2, $3)
       on conflict (grant_id, external_id) do nothing returning grant_id, credits
     )
     update organizations o set credit_balance = credit_balance - reversed.credits, updated_at = now()
     from reversed join credit_grants g on g.grant_id = reversed.grant_id
     where o.organization_id = g.organization_id returning o.organization_id`,
    [grant_id, external_id, credits],
  );
  return rows.length > 0;
}
