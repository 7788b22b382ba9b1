/**
 * Inserts an organization with its trial credits and its audit entry, in the caller's transaction.
 * Spec: Organization; Metering (plans: trial, once).
 */
import { newId } from '../core/ids.ts';
import type { Plans } from '../core/plans.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import { insertCreditGrant } from '../db/credit-grants.ts';
import {
  insertOrganization,
  type NewOrganization,
  type OrganizationRow,
} from '../db/organizations.ts';
import type { Clock } from '../platform/clock.ts';

/** Returns undefined if the namespace already has its organization. */
export async function insertTrialOrganization(
  tx: Transaction,
  { clock, plans }: { clock: Clock; plans: Plans },
  { actor, ...named }: Pick<NewOrganization, 'name' | 'namespace'> & { actor: Actor },
): Promise<OrganizationRow | undefined> {
  const organization_id = newId('org', clock.now().getTime());
  const inserted = await insertOrganization(tx, { organization_id, ...named, plan: 'trial' });
  if (inserted === undefined) return undefined;
  const entry = { action: 'organization.create', target: organization_id, after: named };
  await insertAuditEntry(tx, { organization_id, ...actor, ...entry });
  const { credits } = plans.trial;
  const external_id = organization_id;
  return insertCreditGrant(tx, { organization_id, credits, source: 'trial', external_id });
}
