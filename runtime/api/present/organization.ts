/** An organization's row as the API answers it. Spec: Organization. */
import type { OrganizationRecord } from '../../core/resources/organization.ts';
import type { OrganizationRow } from '../../db/organizations.ts';

export function presentOrganization(row: OrganizationRow): OrganizationRecord {
  return {
    organization_id: row.organization_id,
    name: row.name,
    credit_balance: row.credit_balance,
    quota_exceeded_at: row.quota_exceeded_at?.toISOString() ?? null,
    billing_exempt: row.billing_exempt,
    billing_exempt_until: row.billing_exempt_until?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
