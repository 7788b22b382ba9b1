/**
 * Processes one event of a payment provider, with all its consequences, in one transaction: the event's id, the
 * customer, the subscription, the credits, the quota. A refused event is not recorded, so the provider sends it again.
 * Spec: Infrastructure; Organization quota (credits added).
 */
import {
  type BillingFact,
  type PaidFact,
  type Provider,
  type RefundFact,
  reversedCredits,
} from '../core/billing/billing-fact.ts';
import { ServiceError } from '../core/errors.ts';
import type { Plan, Plans } from '../core/plans.ts';
import { insertAuditEntry } from '../db/audit-log.ts';
import { findBillingPayment, insertBillingPayment } from '../db/billing-payments.ts';
import type { Database, Queryable, Transaction } from '../db/client.ts';
import { insertCreditGrant, insertCreditReversal, lockCreditGrant } from '../db/credit-grants.ts';
import { lockOrganization } from '../db/organizations.ts';
import {
  hasProviderEvent,
  insertProviderEvent,
  type ProviderEventRow,
} from '../db/provider-events.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import { findBillingOrganization } from './find-billing-organization.ts';
import { moveSubscription } from './move-subscription.ts';
import { updateQuotaStatus } from './update-quota-status.ts';

export type BillingDeps = {
  readonly db: Database;
  readonly plans: Plans;
  /** The plan that each product buys, by provider. */
  readonly products: Readonly<Record<Provider, Readonly<Record<string, string>>>>;
  readonly failpoint?: Failpoint;
};

export type BillingEvent = ProviderEventRow & { fact: BillingFact | undefined };

export async function applyBillingEvent(
  deps: BillingDeps,
  event: BillingEvent,
): Promise<'processed' | 'duplicate' | 'ignored'> {
  const { fact } = event;
  if (fact === undefined) return 'ignored';
  const work = async (tx: Transaction) => {
    if (!(await insertProviderEvent(tx, event))) return 'duplicate' as const;
    await apply(tx, { ...event, fact, deps });
    await deps.failpoint?.('billing.before_commit');
    return 'processed' as const;
  };
  const settle = async (db: Queryable) =>
    (await hasProviderEvent(db, event)) ? ('processed' as const) : undefined;
  const result = await deps.db.transaction(work, { settle });
  await deps.failpoint?.('billing.committed');
  return result;
}

type Applying = ProviderEventRow & { fact: BillingFact; deps: BillingDeps };

async function apply(tx: Transaction, applying: Applying): Promise<void> {
  const { fact, provider, event_at: at, deps } = applying;
  if (fact.kind === 'payment') return insertBillingPayment(tx, { provider, ...fact });
  if (fact.kind === 'refund') return reverseCredits(tx, applying, fact);
  const organization_id = await findBillingOrganization(tx, { provider, ...fact });
  if (fact.kind === 'customer') return;
  await lockOrganization(tx, organization_id);
  const { name: plan, plan: bought } = planOf(deps, provider, fact.product_id);
  if (fact.kind === 'paid') checkPrice(fact, bought);
  const { subscription_id, status } = fact;
  await moveSubscription(tx, { provider, subscription_id, organization_id, plan, status, at });
  if (fact.kind === 'paid') await grant(tx, applying, { fact, organization_id, plan: bought });
}

function planOf({ plans, products }: BillingDeps, provider: Provider, productId: string) {
  const bought = products[provider];
  const name = Object.hasOwn(bought, productId) ? bought[productId] : undefined;
  const plan = name !== undefined && Object.hasOwn(plans, name) ? plans[name] : undefined;
  if (name === undefined || plan === undefined) throw new ServiceError('billing_plan_unmapped');
  return { name, plan };
}

/** A plan without a price accepts any payment. */
function checkPrice({ price }: PaidFact, { price: expected }: Plan): void {
  if (expected === undefined) return;
  const isIt =
    price?.amount === expected.amount &&
    price.currency.toLowerCase() === expected.currency.toLowerCase();
  if (!isIt) throw new ServiceError('billing_price_mismatch');
}

type Granting = { fact: PaidFact; organization_id: string; plan: Plan };

/** Grants once per payment, however many events report it. */
async function grant(
  tx: Transaction,
  { provider, event_id }: Applying,
  { fact, organization_id, plan: { credits } }: Granting,
): Promise<void> {
  const { payment_id: external_id, subscription_id } = fact;
  const source = `provider_${provider}` as const;
  const granted = await insertCreditGrant(tx, { organization_id, credits, source, external_id });
  if (granted === undefined) return;
  await insertAuditEntry(tx, {
    organization_id,
    actor_kind: 'system',
    action: 'billing.grant',
    target: organization_id,
    after: { credits, source, event_id, payment_id: external_id, subscription_id },
  });
  await updateQuotaStatus(tx, organization_id);
}

async function reverseCredits(
  tx: Transaction,
  { provider, event_id }: Applying,
  fact: RefundFact,
): Promise<void> {
  const source = `provider_${provider}` as const;
  const payment_id =
    'payment_id' in fact ? fact.payment_id : await findBillingPayment(tx, { provider, ...fact });
  const found = payment_id && (await lockCreditGrant(tx, { source, external_id: payment_id }));
  if (!found) throw new ServiceError('billing_grant_not_found');
  const { grant_id, organization_id } = found;
  const credits = Math.min(reversedCredits(found.credits, fact), found.credits - found.reversed);
  if (credits <= 0) return;
  const isNew = await insertCreditReversal(tx, { grant_id, external_id: fact.refund_id, credits });
  if (!isNew) return;
  await insertAuditEntry(tx, {
    organization_id,
    actor_kind: 'system',
    action: 'billing.refund',
    target: organization_id,
    after: { credits, source, event_id, payment_id },
  });
  await updateQuotaStatus(tx, organization_id);
}
