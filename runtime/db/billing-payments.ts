// Table billing_payments: which charge belongs to which payment. Spec: Infrastructure.
import type { Provider } from '../core/billing/billing-fact.ts';
import type { Queryable, Transaction } from './client.ts';

export type BillingPaymentRow = {
  provider: Provider;
  paid_by: string;
  payment_id: string;
};

/** Keeps what is already known. */
export async function insertBillingPayment(
  tx: Transaction,
  { provider, paid_by, payment_id }: BillingPaymentRow,
): Promise<void> {
  await tx.query(
    `insert into billing_payments (provider, paid_by, payment_id) values ($1, $2, $3)
     on conflict (provider, paid_by) do nothing`,
    [provider, paid_by, payment_id],
  );
}

/** Undefined if the provider has not said. */
export async function findBillingPayment(
  db: Queryable,
  { provider, paid_by }: Pick<BillingPaymentRow, 'provider' | 'paid_by'>,
): Promise<string | undefined> {
  const [row] = await db.query<BillingPaymentRow>(
    'select payment_id from billing_payments where provider = $1 and paid_by = $2',
    [provider, paid_by],
  );
  return row?.payment_id;
}
