// Tables provider_events and billing_customers: the events of payment providers, and the customers they know. Spec:
// Infrastructure.
import type { Provider } from '../core/billing/billing-fact.ts';
import type { Queryable, Transaction } from './client.ts';

export type ProviderEventRow = {
  provider: Provider;
  event_id: string;
  event_type: string;
  /** By the provider's clock. */
  event_at: Date;
};

/** False if it was processed before. Waits for a transaction that is processing it now. */
export async function insertProviderEvent(
  tx: Transaction,
  { provider, event_id, event_type, event_at }: ProviderEventRow,
): Promise<boolean> {
  const rows = await tx.query(
    `insert into provider_events (provider, event_id, event_type, event_at) values ($1, $2, $3, $4)
     on conflict (provider, event_id) do nothing returning event_id`,
    [provider, event_id, event_type, event_at],
  );
  return rows.length > 0;
}

export async function hasProviderEvent(
  db: Queryable,
  { provider, event_id }: Pick<ProviderEventRow, 'provider' | 'event_id'>,
): Promise<boolean> {
  const rows = await db.query('select from provider_events where provider = $1 and event_id = $2', [
    provider,
    event_id,
  ]);
  return rows.length > 0;
}

export type BillingCustomerRow = {
  provider: Provider;
  customer_id: string;
  organization_id: string;
};

/** The organization of a customer; undefined if unknown. */
export async function findCustomerOrganization(
  db: Queryable,
  { provider, customer_id }: Pick<BillingCustomerRow, 'provider' | 'customer_id'>,
): Promise<string | undefined> {
  const [row] = await db.query<BillingCustomerRow>(
    'select organization_id from billing_customers where provider = $1 and customer_id = $2',
    [provider, customer_id],
  );
  return row?.organization_id;
}

/** False if there is no such organization. A known customer keeps its organization. */
export async function insertBillingCustomer(
  tx: Transaction,
  { provider, customer_id, organization_id }: BillingCustomerRow,
): Promise<boolean> {
  const rows = await tx.query(
    `with known as (select organization_id from organizations where organization_id = $3), made as (
       insert into billing_customers (provider, customer_id, organization_id)
       select $1, $2, organization_id from known on conflict (provider, customer_id) do nothing
     )
     select from known`,
    [provider, customer_id, organization_id],
  );
  return rows.length > 0;
}
