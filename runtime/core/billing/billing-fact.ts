/**
 * What the events of both payment providers mean to us, in common terms. Spec: Infrastructure (credits are granted only
 * from a subscription-paid event); Other state sets (subscription).
 */
import type { Price } from '../plans.ts';
import type { SubscriptionStatus } from '../states.ts';

export type Provider = 'a' | 'b';

/**
 * The customer and the organization, which is in the metadata of the checkout and of everything
 * that follows from it.
 */
export type BillingCustomer = { customer_id: string; organization_id: string | undefined };

export type BillingSubscription = BillingCustomer & {
  subscription_id: string;
  /** The product of provider B, or the price of provider A. */
  product_id: string;
};

/** `payment_id` ensures a single grant, however many events report the payment. */
export type PaidFact = BillingSubscription & {
  kind: 'paid';
  payment_id: string;
  /**
   * Undefined when the event does not say: then active, unless more is known about the
   * subscription.
   */
  status: SubscriptionStatus | undefined;
  /** The list price, not the amount paid after discounts; undefined when the event does not say. */
  price: Price | undefined;
};

export type StateFact = BillingSubscription & { kind: 'state'; status: SubscriptionStatus };

export type CustomerFact = BillingCustomer & { kind: 'customer'; organization_id: string };

/** Links a payment to its charge, because a refund may name only the charge. */
export type PaymentFact = { kind: 'payment'; payment_id: string; paid_by: string };

/**
 * A part `refunded` of the amount `paid` was returned, after `refunded_before` if the provider
 * reports it.
 */
export type RefundFact = Refunded & {
  kind: 'refund';
  refund_id: string;
  refunded: number;
  refunded_before: number;
  paid: number;
};

/** The refunded payment: by its own id, or by its charge. */
export type Refunded = Pick<PaymentFact, 'payment_id'> | Pick<PaymentFact, 'paid_by'>;

export type BillingFact = PaidFact | StateFact | CustomerFact | PaymentFact | RefundFact;

/**
 * How many credits of a grant a refund takes back: the credits due after it minus those due before,
 * each rounded in the customer's favor, so that partial refunds of the whole amount take back the
 * whole grant.
 */
export function reversedCredits(credits: number, refund: RefundFact): number {
  const { refunded, refunded_before: before, paid } = refund;
  if (paid <= 0) return 0;
  const due = (money: number) => Number((BigInt(credits) * BigInt(money)) / BigInt(paid));
  return Math.min(credits, due(before + refunded) - due(before));
}

/** The order of states in a subscription's life, for events with the same timestamp. */
const ORDER: readonly SubscriptionStatus[] = ['active', 'scheduled_cancel', 'expired', 'canceled'];

/**
 * Whether an event moves a subscription: never if it is older than the last event that did; always
 * into `canceled`, and never out of it. So events give the same result in any order and when
 * repeated. Of two events with the same timestamp and different plans, the last to arrive counts.
 */
export function movesSubscription(
  before: { status: SubscriptionStatus; plan: string; changed_at: Date },
  event: { status: SubscriptionStatus; plan: string; at: Date },
): boolean {
  if (before.status === 'canceled') return false;
  if (event.status === 'canceled') return true;
  const later = event.at.getTime() - before.changed_at.getTime();
  if (later !== 0) return later > 0;
  if (event.status === before.status) return event.plan !== before.plan;
  return ORDER.indexOf(event.status) > ORDER.indexOf(before.status);
}

/** Whether the subscription still runs. */
export function isRunning(status: SubscriptionStatus): boolean {
  return status === 'active' || status === 'scheduled_cancel';
}
