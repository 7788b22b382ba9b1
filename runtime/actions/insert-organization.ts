/**
 * An organization with the credits that a trial begins with, in the caller's transaction. Spec: Organization; Metering
 * (plans: trial, once).
 */
import { newId } from '../core/ids.ts';
import type { Plans } from '../core/plans.ts';
import type { Transaction } from '../db/client.ts';
import { insertCreditGrant } from '../db/credit-grants.ts';
import { insertOrganization, type OrganizationRow } from '../db/organizations.ts';
import { onlyRow } from '../db/rows.ts';
import type { Clock } from '../platform/clock.ts';

export async function insertTrialOrganization(
  tx: Transaction,
  { clock, plans }: { clock: Clock; plans: Plans },
  name: string,
): Promise<OrganizationRow> {
  const organization_id = newId('org', clock.now().getTime());
  await insertOrganization(tx, { organization_id, name, plan: 'trial' });
  const { credits } = plans.trial;
  const granted = await insertCreditGrant(tx, {
    organization_id,
    credits,
    source: 'trial',
    external_id: organization_id,
  });
  return onlyRow(granted);
}
