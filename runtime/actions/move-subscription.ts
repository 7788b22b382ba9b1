/**
 * Moves a subscription to the state that its provider reports, never backwards, and the organization's plan with it.
 * Spec: Billing; Other state sets (subscription).
 */
import { isRunning, movesSubscription } from '../core/billing/billing-fact.ts';
import { ServiceError } from '../core/errors.ts';
import type { SubscriptionStatus } from '../core/states.ts';
import type { Transaction } from '../db/client.ts';
import {
  findSubscription,
  findSubscriptionOfOrganization,
  type SubscriptionRow,
  upsertSubscription,
} from '../db/subscriptions.ts';

export type SubscriptionMove = Omit<SubscriptionRow, 'changed_at' | 'status'> & {
  /**
   * Undefined: a payment, which makes an unknown subscription known and leaves a known one alone.
   */
  status: SubscriptionStatus | undefined;
  /** By the provider's clock. */
  at: Date;
};

/** The plan of an organization without a running subscription. */
const PLAN_WITHOUT = 'trial';

/**
 * For a subscription known only by its payment: any event about it counts, even an older one that
 * arrives later.
 */
const LONG_AGO = new Date(0);

/** The caller holds the lock on the organization's row. Throws `billing_subscription_mismatch`. */
export async function moveSubscription(tx: Transaction, move: SubscriptionMove): Promise<void> {
  const { at, status = 'active', ...fields } = move;
  const subscription = { ...fields, status, changed_at: move.status === undefined ? LONG_AGO : at };
  const { organization_id, subscription_id, plan } = subscription;
  const before = await findSubscription(tx, subscription);
  if (before !== undefined && before.organization_id !== organization_id) {
    throw new ServiceError('billing_subscription_mismatch');
  }
  if (before !== undefined && !isMoved(before, move)) return;
  const current = await findSubscriptionOfOrganization(tx, organization_id);
  const isOther = current !== undefined && current.subscription_id !== subscription_id;
  const hasOther = isOther && isRunning(current.status);
  // A replacement must wait until the provider has reported the end of the current subscription.
  if (hasOther && isRunning(status)) throw new ServiceError('billing_subscription_mismatch');
  const own = isRunning(status) ? plan : PLAN_WITHOUT;
  const organization_plan = hasOther ? current.plan : own;
  await upsertSubscription(tx, { ...subscription, organization_plan });
}

function isMoved(before: SubscriptionRow, { status, plan, at }: SubscriptionMove): boolean {
  return status !== undefined && movesSubscription(before, { status, plan, at });
}
