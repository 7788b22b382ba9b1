/**
 * Events of payment provider B, which carry their object. Spec: Infrastructure (POST /v1/billing/providerb/webhook).
 */
import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import type { ProviderBEvent } from '../resources/inbound.ts';
import type { SubscriptionStatus } from '../states.ts';
import type { BillingFact, BillingSubscription } from './billing-fact.ts';
import {
  providerReference as customer,
  customerOfCheckout,
  providerId as id,
  providerMetadata as metadata,
  parseInbound,
} from './parse-inbound.ts';

const product = z.looseObject({
  id,
  price: z.int().min(0).optional(),
  currency: z.string().optional(),
});

const subscription = z.looseObject({
  id,
  customer,
  product: z.union([
    product,
    id.transform((one) => ({ id: one, price: undefined, currency: undefined })),
  ]),
  status: z.string().optional(),
  last_transaction_id: id.optional(),
  metadata,
});

const refund = z.looseObject({
  id,
  refund_amount: z.int().min(0),
  transaction: z.looseObject({ id, amount: z.int().min(0) }),
});

/**
 * Undefined: nothing that concerns us. Throws when the mode differs, or the object does not match
 * its type.
 */
export function factOfProviderB(
  { id: event_id, eventType, object }: ProviderBEvent,
  mode: 'test' | 'live',
): BillingFact | undefined {
  if (modeOf(object['mode']) !== mode) throw new ServiceError('providerb_mode_mismatch');
  if (eventType === 'subscription.paid') return paid(object, event_id);
  if (eventType === 'checkout.completed') return customerOfCheckout(object);
  if (eventType === 'refund.created') return refunded(object);
  const status = STATUSES.get(eventType);
  if (status === undefined) return undefined;
  const found = parseInbound(subscription, object);
  const current = status === 'as reported' ? PROVIDER_STATUSES.get(found.status ?? '') : status;
  return current && { kind: 'state', ...subscriptionOf(found), status: current };
}

const STATUSES = new Map<string, SubscriptionStatus | 'as reported'>(
  Object.entries({
    'subscription.active': 'active',
    'subscription.trialing': 'active',
    'subscription.update': 'as reported',
    'subscription.scheduled_cancel': 'scheduled_cancel',
    'subscription.canceled': 'canceled',
    'subscription.expired': 'expired',
  }),
);

/** The provider's own statuses, in its objects and answers. */
const PROVIDER_STATUSES = new Map<string, SubscriptionStatus>(
  Object.entries({
    active: 'active',
    trialing: 'active',
    past_due: 'active',
    scheduled_cancel: 'scheduled_cancel',
    canceled: 'canceled',
    expired: 'expired',
  }),
);

/**
 * The subscription's status in the provider's answer; undefined when it contains no status known to
 * us.
 */
export function statusOfProviderB(answer: unknown): SubscriptionStatus | undefined {
  const found = z.looseObject({ status: z.string() }).safeParse(answer);
  return found.success ? PROVIDER_STATUSES.get(found.data.status) : undefined;
}

/** Undefined for an event that does not state its mode; such an event is refused. */
function modeOf(value: unknown): 'test' | 'live' | undefined {
  if (value === 'test' || value === 'sandbox') return 'test';
  return value === 'live' || value === 'prod' ? 'live' : undefined;
}

function paid(object: unknown, eventId: string): BillingFact {
  const found = parseInbound(subscription, object);
  const { price: amount, currency } = found.product;
  return {
    kind: 'paid',
    ...subscriptionOf(found),
    payment_id: found.last_transaction_id ?? eventId,
    status: PROVIDER_STATUSES.get(found.status ?? ''),
    price: amount === undefined || currency === undefined ? undefined : { amount, currency },
  };
}

function subscriptionOf(found: z.infer<typeof subscription>): BillingSubscription {
  return {
    subscription_id: found.id,
    customer_id: found.customer,
    organization_id: found.metadata?.organization_id,
    product_id: found.product.id,
  };
}

function refunded(object: unknown): BillingFact {
  const { id: refund_id, refund_amount, transaction } = parseInbound(refund, object);
  const { id: payment_id, amount } = transaction;
  const money = { refunded: refund_amount, refunded_before: 0, paid: amount };
  return { kind: 'refund', refund_id, payment_id, ...money };
}
