/**
 * What an event of a payment provider means to us, in words that both share. Spec: Infrastructure (credits are granted
 * only from a subscription-paid event); Other state sets (subscription).
 */
import type { Price } from '../plans.ts';
import type { SubscriptionStatus } from '../states.ts';

export type Provider = 'a' | 'b';

/** Whose it is: the organization stands in the metadata of the checkout, and so in what follows from it. */
export type BillingCustomer = { customer_id: string; organization_id: string | undefined };

export type BillingSubscription = BillingCustomer & {
  subscription_id: string;
  /** Product of provider B, price of provider A. */
  product_id: string;
};

/** `payment_id` makes the grant happen once, whatever events tell of the payment. */
export type PaidFact = BillingSubscription & {
  kind: 'paid';
  payment_id: string;
  /** Undefined where the event does not say: an active one then, unless more is known of it. */
  status: SubscriptionStatus | undefined;
  /** List price, not what was paid after discounts; undefined where the event does not say. */
  price: Price | undefined;
};

export type StateFact = BillingSubscription & { kind: 'state'; status: SubscriptionStatus };

export type CustomerFact = BillingCustomer & { kind: 'customer'; organization_id: string };

/** What was charged for a payment, where a refund names only that. */
export type PaymentFact = { kind: 'payment'; payment_id: string; paid_by: string };

/** A part `refunded` of what was `paid` went back, after `refunded_before` where the provider says how much that was. */
export type RefundFact = Refunded & {
  kind: 'refund';
  refund_id: string;
  refunded: number;
  refunded_before: number;
  paid: number;
};

/** Of which payment: by its own id, or by what was charged for it. */
export type Refunded = Pick<PaymentFact, 'payment_id'> | Pick<PaymentFact, 'paid_by'>;

export type BillingFact = PaidFact | StateFact | CustomerFact | PaymentFact | RefundFact;

/**
 * How many credits of a grant a refund takes back: what is due after it less what was due before, each rounded in the
 * customer's favour, so that parts which make up the whole take the whole.
 */
export function reversedCredits(credits: number, refund: RefundFact): number {
  const { refunded, refunded_before: before, paid } = refund;
  if (paid <= 0) return 0;
  const due = (money: number) => Number((BigInt(credits) * BigInt(money)) / BigInt(paid));
  return Math.min(credits, due(before + refunded) - due(before));
}

/** What is later in a subscription's life, for events of one and the same moment. */
const ORDER: readonly SubscriptionStatus[] = ['active', 'scheduled_cancel', 'expired', 'canceled'];

/**
 * Whether an event moves a subscription: never when it is older than the last one that did, always into `canceled` and
 * never out of it. So events lead to the same end in whatever order and however often they come; where two of one moment
 * tell of two plans, the one that comes last counts.
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

/** Whether it goes on for now. */
export function isRunning(status: SubscriptionStatus): boolean {
  return status === 'active' || status === 'scheduled_cancel';
}
