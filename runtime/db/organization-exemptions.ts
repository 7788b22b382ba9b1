// Table organization_exemptions: intervals of free usage, and the organization's own view of them. Spec: Organization.
import type { Queryable, Transaction } from './client.ts';
import { STATEMENT_TIME } from './database-time.ts';
import type { OrganizationRow } from './organizations.ts';

export type ExemptionRow = { organization_id: string; from: Date; until: Date | null };

/**
 * Opens an exemption now and clears quota_exceeded_at. Undefined if one is already open. Requires
 * the lock on the organization. If the clock has not advanced since the last one ended, it begins
 * as soon after that as possible.
 */
export async function insertExemption(
  tx: Transaction,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const rows = await tx.query<OrganizationRow>(
    `with opened as (
       insert into organization_exemptions (organization_id, starts_at)
       select $1, greatest(${STATEMENT_TIME}, max(greatest(starts_at + interval '1 millisecond', ends_at)))
       from organization_exemptions where organization_id = $1
       on conflict (organization_id) where ends_at is null do nothing returning organization_id
     )
     update organizations set billing_exempt = true, billing_exempt_until = null,
       quota_exceeded_at = null, updated_at = ${STATEMENT_TIME}
     from opened where organizations.organization_id = opened.organization_id returning organizations.*`,
    [organizationId],
  );
  return rows[0];
}

/**
 * Ends the open exemption now. Requires the lock on the organization. Undefined if none is open.
 */
export async function updateExemptionEnd(
  tx: Transaction,
  organizationId: string,
): Promise<OrganizationRow | undefined> {
  const rows = await tx.query<OrganizationRow>(
    `with closed as (
       update organization_exemptions set ends_at = greatest(${STATEMENT_TIME}, starts_at)
       where organization_id = $1 and ends_at is null returning organization_id, ends_at
     )
     update organizations set billing_exempt = false, billing_exempt_until = closed.ends_at, updated_at = ${STATEMENT_TIME}
     from closed where organizations.organization_id = closed.organization_id returning organizations.*`,
    [organizationId],
  );
  return rows[0];
}

/** Every interval of these organizations, oldest first. */
export async function listExemptions(
  db: Queryable,
  organizationIds: readonly string[],
): Promise<ExemptionRow[]> {
  return db.query(
    `select organization_id, starts_at as "from", ends_at as until from organization_exemptions
     where organization_id = any($1) order by organization_id, starts_at`,
    [organizationIds],
  );
}
