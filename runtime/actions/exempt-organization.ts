/** Turns free usage on or off, audited with the previous state. Spec: Organization (billing_exempt); Staff. */
import { ServiceError } from '../core/errors.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import { insertExemption, updateExemptionEnd } from '../db/organization-exemptions.ts';
import { lockOrganization, type OrganizationRow } from '../db/organizations.ts';

type ExemptionChange = { organization_id: string; billing_exempt: boolean; actor: Actor };

/** Returns the organization's current row; skips a change without effect. Throws not_found. */
export async function exemptOrganization(
  tx: Transaction,
  { organization_id, billing_exempt, actor }: ExemptionChange,
): Promise<OrganizationRow> {
  const before = await lockOrganization(tx, organization_id);
  if (before === undefined) throw new ServiceError('not_found');
  const change = billing_exempt ? insertExemption : updateExemptionEnd;
  const after = await change(tx, organization_id);
  if (after === undefined) return before;
  await insertAuditEntry(tx, {
    organization_id,
    ...actor,
    action: 'organization.update',
    target: organization_id,
    before: exemptionOf(before),
    after: exemptionOf(after),
  });
  return after;
}

function exemptionOf({ billing_exempt, billing_exempt_until, quota_exceeded_at }: OrganizationRow) {
  return { billing_exempt, billing_exempt_until, quota_exceeded_at };
}
