/**
 * Events of payment provider A. Version 2025-03-31 of its API moved fields: each is read at its old and its new place.
 * Spec: PaymentProviderASignature.
 */
import { z } from 'zod';
import type { ServiceError } from '../errors.ts';
import { wrongInput } from '../input-issue.ts';
import type { ProviderAEvent } from '../resources/inbound.ts';
import type { SubscriptionStatus } from '../states.ts';
import type { BillingFact, Refunded } from './billing-fact.ts';
import {
  customerOfCheckout,
  providerId as id,
  providerMetadata as metadata,
  parseInbound,
  providerReference as reference,
} from './parse-inbound.ts';

const price = z.looseObject({
  id,
  unit_amount: z.int().nullish(),
  currency: z.string().optional(),
});

const proration = z.boolean().nullish();
const item = z.looseObject({ proration }).nullish();

const line = z.looseObject({
  type: z.string().nullish(),
  proration,
  parent: z.looseObject({ subscription_item_details: item, invoice_item_details: item }).nullish(),
  amount: z.int().optional(),
  currency: z.string().optional(),
  price: price.nullish(),
  pricing: z
    .looseObject({
      unit_amount_decimal: z.string().nullish(),
      price_details: z.looseObject({ price: id }).nullish(),
    })
    .nullish(),
});

const details = z.looseObject({ subscription: reference.nullish(), metadata });
const invoice = z.looseObject({
  id,
  customer: reference,
  subscription: reference.nullish(),
  subscription_details: z.looseObject({ metadata }).nullish(),
  parent: z.looseObject({ subscription_details: details.nullish() }).nullish(),
  lines: z.looseObject({ data: z.array(line), has_more: z.boolean().nullish() }),
});

const subscription = z.looseObject({
  id,
  customer: reference,
  status: z.string(),
  cancel_at_period_end: z.boolean().nullish(),
  cancel_at: z.int().nullish(),
  items: z.looseObject({ data: z.array(z.looseObject({ price })).min(1) }),
  metadata,
});

const invoicePayment = z.looseObject({
  invoice: reference,
  payment: z.looseObject({ payment_intent: reference.nullish(), charge: reference.nullish() }),
});

const charge = z.looseObject({
  id,
  customer: reference.nullish(),
  invoice: reference.nullish(),
  payment_intent: reference.nullish(),
  amount: z.int().min(0),
  amount_refunded: z.int().min(0),
});

/**
 * Undefined: nothing that concerns us. Throws when the object does not match its type, or when the
 * event's mode differs from the required one.
 */
export function factOfProviderA(
  { id: event_id, type, livemode, data }: ProviderAEvent,
  mode?: 'test' | 'live',
): BillingFact | undefined {
  if (mode !== undefined && livemode === (mode === 'test')) throw wrongMode(mode);
  switch (type) {
    case 'invoice.paid':
      return paid(data.object);
    case 'invoice_payment.paid':
      return charged(data.object);
    case 'checkout.session.completed':
      return customerOfCheckout(data.object);
    case 'customer.subscription.created':
    case 'customer.subscription.updated':
    case 'customer.subscription.deleted':
      return state(data.object, type);
    case 'charge.refunded':
      return refunded(data, event_id);
    default:
      return undefined;
  }
}

function wrongMode(mode: 'test' | 'live'): ServiceError {
  const message = `expected ${mode === 'live'}: TINTYPE_PROVIDER_A_MODE is ${mode}`;
  return wrongInput({ path: 'livemode', message });
}

/**
 * Undefined for an invoice without a subscription (we sell nothing else), and for one that has only
 * prorations, a trial or single items. An event shows only the first lines of its invoice. It is
 * refused if the plan's line may be missing, as nobody would notice the missing credits.
 */
function paid(object: unknown): BillingFact | undefined {
  const found = parseInbound(invoice, object);
  const about = found.parent?.subscription_details;
  const subscription_id = found.subscription ?? about?.subscription;
  if (subscription_id == null) return undefined;
  const billed = found.lines.data.find(isOfPlan);
  const product_id = billed?.price?.id ?? billed?.pricing?.price_details?.price;
  if (billed === undefined && found.lines.has_more === true) throw wrongInput(CUT);
  if (billed === undefined || product_id === undefined) return undefined;
  return {
    kind: 'paid',
    subscription_id,
    customer_id: found.customer,
    organization_id: (found.subscription_details ?? about)?.metadata?.organization_id,
    product_id,
    payment_id: found.id,
    status: undefined,
    price: priceOf(billed),
  };
}

const CUT = {
  path: 'object.lines.has_more',
  message: 'expected the line of the plan among the lines in the event',
};

function isOfPlan(each: z.infer<typeof line>): boolean {
  return !isSingle(each) && !isProration(each) && isBilled(each);
}

/** A line that somebody added to the next invoice, including the rest of a change in mid-period. */
function isSingle({ type, parent }: z.infer<typeof line>): boolean {
  return type === 'invoiceitem' || parent?.invoice_item_details != null;
}

function isProration({ proration, parent }: z.infer<typeof line>): boolean {
  return proration === true || parent?.subscription_item_details?.proration === true;
}

/**
 * A trial period is a zero line at a nonzero price. A line of the newer form has no price besides
 * the billed amount: a zero line may be a trial or a free price, and counts as a trial.
 */
function isBilled({ amount, price: old }: z.infer<typeof line>): boolean {
  if (amount === 0) return old != null && (old.unit_amount ?? 0) === 0;
  return amount === undefined || amount > 0;
}

function priceOf({ price: old, pricing, currency = '' }: z.infer<typeof line>) {
  const amount = old?.unit_amount ?? Number(pricing?.unit_amount_decimal ?? Number.NaN);
  return Number.isInteger(amount) ? { amount, currency: old?.currency ?? currency } : undefined;
}

/** A map, because keys from outside are looked up in it. */
const STATUSES = new Map<string, SubscriptionStatus>(
  Object.entries({
    active: 'active',
    trialing: 'active',
    past_due: 'active',
    unpaid: 'expired',
    paused: 'expired',
    incomplete_expired: 'expired',
    canceled: 'canceled',
  }),
);

function state(object: unknown, type: string): BillingFact | undefined {
  const found = parseInbound(subscription, object);
  const reported =
    type === 'customer.subscription.deleted' ? 'canceled' : STATUSES.get(found.status);
  const [item] = found.items.data;
  if (reported === undefined || item === undefined) return undefined;
  const isEnding = found.cancel_at_period_end === true || found.cancel_at != null;
  return {
    kind: 'state',
    subscription_id: found.id,
    customer_id: found.customer,
    organization_id: found.metadata?.organization_id,
    product_id: item.price.id,
    status: reported === 'active' && isEnding ? 'scheduled_cancel' : reported,
  };
}

/**
 * Undefined for a payment that the provider did not charge itself: it never refunds such a payment.
 */
function charged(object: unknown): BillingFact | undefined {
  const { invoice: payment_id, payment } = parseInbound(invoicePayment, object);
  const paid_by = payment.payment_intent ?? payment.charge;
  return paid_by == null ? undefined : { kind: 'payment', payment_id, paid_by };
}

/** A charge contains the total refunded so far; the event adds how much was refunded before. */
function refunded(data: ProviderAEvent['data'], event_id: string): BillingFact | undefined {
  const found = parseInbound(charge, data.object);
  const of = refundedOf(found);
  if (of === undefined) return undefined;
  const previous = z.int().min(0).safeParse(data.previous_attributes?.['amount_refunded']);
  const refunded_before = previous.data ?? 0;
  const refunded = found.amount_refunded - refunded_before;
  const money = { refunded, refunded_before, paid: found.amount };
  return { kind: 'refund', ...of, refund_id: event_id, ...money };
}

/**
 * A charge of the older form states that it has no invoice. One of the newer form does not, so it
 * may be for any invoice, unless it has no customer: every invoice has one.
 */
function refundedOf(found: z.infer<typeof charge>): Refunded | undefined {
  const { id: charge_id, customer, invoice: payment_id, payment_intent } = found;
  if (payment_id != null) return { payment_id };
  const isOfNone = payment_id === null || customer === null;
  return isOfNone ? undefined : { paid_by: payment_intent ?? charge_id };
}
