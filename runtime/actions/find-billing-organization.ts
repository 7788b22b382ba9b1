/**
 * Finds the organization of a payment provider's customer: already known, or named by the metadata of a signed event
 * and then stored. Spec: Infrastructure (billing errors).
 */
import type { Provider } from '../core/billing/billing-fact.ts';
import { ServiceError } from '../core/errors.ts';
import type { Transaction } from '../db/client.ts';
import { findCustomerOrganization, insertBillingCustomer } from '../db/provider-events.ts';

/**
 * Throws `billing_customer_unmapped`, and `billing_subscription_mismatch` if the event names
 * another organization.
 */
export async function findBillingOrganization(
  tx: Transaction,
  customer: { provider: Provider; customer_id: string; organization_id: string | undefined },
): Promise<string> {
  const { provider, customer_id, organization_id } = customer;
  if (organization_id !== undefined) {
    await insertBillingCustomer(tx, { provider, customer_id, organization_id });
  }
  const known = await findCustomerOrganization(tx, { provider, customer_id });
  if (known === undefined) throw new ServiceError('billing_customer_unmapped');
  if (organization_id !== undefined && organization_id !== known) {
    throw new ServiceError('billing_subscription_mismatch');
  }
  return known;
}
