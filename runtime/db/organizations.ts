// Table organizations: owners of projects and of a credit balance. Spec: Organization; Organization quota.
import type { Queryable, Transaction } from './client.ts';
import { COUNTED_MAX } from './count-waiting.ts';
import { STATEMENT_TIME } from './database-time.ts';
import { onlyRow } from './rows.ts';

export type OrganizationRow = {
  organization_id: string;
  name: string;
  namespace: string | null;
  plan: string;
  credit_balance: number;
  quota_exceeded_at: Date | null;
  billing_exempt: boolean;
  billing_exempt_until: Date | null;
  created_at: Date;
  updated_at: Date;
};

export type NewOrganization = {
  organization_id: string;
  name: string;
  plan: string;
  /** The Kubernetes namespace that it was created for. */
  namespace?: string;
};

/** Undefined if the namespace already has its organization. */
export async function insertOrganization(
  db: Queryable,
  { organization_id, name, plan, namespace }: NewOrganization,
): Promise<OrganizationRow | undefined> {
  const rows = await db.query<OrganizationRow>(
    `insert into organizations (organization_id, name, plan, namespace) values ($1, $2, $3, $4)
     on conflict (namespace) do nothing returning *`,
    [organization_id, name, plan, namespace ?? null],
  );
  return rows[0];
}

export async function findOrganization(
  db: Queryable,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const rows = await db.query<OrganizationRow>(
    'select * from organizations where organization_id = $1',
    [organizationId],
  );
  return rows[0];
}

export async function findOrganizationByNamespace(
  db: Queryable,
  namespace: string,
): Promise<OrganizationRow | undefined> {
  const rows = await db.query<OrganizationRow>('select * from organizations where namespace = $1', [
    namespace,
  ]);
  return rows[0];
}

/** Locked until the transaction ends, by everything that changes the balance or the quota. */
export async function lockOrganization(
  tx: Transaction,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const rows = await tx.query<OrganizationRow>(
    'select * from organizations where organization_id = $1 for no key update',
    [organizationId],
  );
  return rows[0];
}

/** Suspended projects included: none is ever deleted. */
export async function countProjects(db: Queryable, organizationId: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(
    'select count(*) from projects where organization_id = $1',
    [organizationId],
  );
  return onlyRow(row).count;
}

/** Within quota → over quota. Undefined if it already was over quota, or is exempt. */
export async function updateOverQuota(
  tx: Transaction,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const rows = await tx.query<OrganizationRow>(
    `update organizations set quota_exceeded_at = ${STATEMENT_TIME}, updated_at = ${STATEMENT_TIME}
     where organization_id = $1 and quota_exceeded_at is null and not billing_exempt returning *`,
    [organizationId],
  );
  return rows[0];
}

/** Over quota → within quota. Undefined if it already was within quota. */
export async function updateWithinQuota(
  tx: Transaction,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const rows = await tx.query<OrganizationRow>(
    `update organizations set quota_exceeded_at = null, updated_at = ${STATEMENT_TIME}
     where organization_id = $1 and quota_exceeded_at is not null returning *`,
    [organizationId],
  );
  return rows[0];
}

/**
 * How many trial and paying organizations are over quota: counted separately, as used-up trials
 * only become more.
 */
export async function countOverQuota(db: Queryable): Promise<{ trial: number; paid: number }> {
  const over = (which: string) =>
    `(select 1 from organizations where quota_exceeded_at is not null and ${which} limit $1)`;
  const [row] = await db.query<{ trial: number; paid: number }>(
    `select (select count(*) from ${over("plan = 'trial'")} trials) as trial,
       (select least(count(*), $1) from (
         ${over("plan < 'trial'")} union all ${over("plan > 'trial'")}
       ) others) as paid`,
    [COUNTED_MAX],
  );
  return onlyRow(row);
}

/** Organizations whose quota state does not match their balance, in either direction. */
export async function listUnsettledOrganizations(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ organization_id: string }>(
    `select organization_id from organizations
     where (quota_exceeded_at is null) = (credit_balance <= 0) and not billing_exempt
     order by organization_id`,
  );
  return rows.map((row) => row.organization_id);
}
