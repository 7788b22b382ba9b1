/** Events from payment providers, and canceling a subscription. Spec: Endpoints, Infrastructure; Billing. */

import { applyBillingEvent } from '../../actions/apply-billing-event.ts';
import { cancelSubscription } from '../../actions/cancel-subscription.ts';
import { factOfProviderA } from '../../core/billing/provider-a-fact.ts';
import { factOfProviderB } from '../../core/billing/provider-b-fact.ts';
import type { ApiErrorCode } from '../../core/errors.ts';
import {
  INBOUND_WEBHOOK_BODY_BYTES_MAX,
  INBOUND_WEBHOOK_BODY_VALUES_MAX,
} from '../../core/limits.ts';
import {
  cancelSubscriptionBody,
  providerAEventBody,
  providerBEventBody,
} from '../../core/resources/inbound.ts';
import { auditActor } from '../audit-actor.ts';
import { requireDashPrincipal } from '../auth/principal.ts';
import { endpoint } from '../endpoint.ts';

/** An event answered with one of these is not recorded, so the provider sends it again. */
const REFUSALS = [
  'invalid_signature',
  'billing_unavailable',
  'billing_price_mismatch',
  'billing_customer_unmapped',
  'billing_plan_unmapped',
  'billing_subscription_mismatch',
  'billing_grant_not_found',
] as const satisfies readonly ApiErrorCode[];

export const receiveProviderBEvent = endpoint({
  method: 'POST',
  path: '/v1/billing/providerb/webhook',
  auth: ['provider_b_signature'],
  ok: 200,
  errors: ['providerb_mode_mismatch', ...REFUSALS],
  body_bytes_max: INBOUND_WEBHOOK_BODY_BYTES_MAX,
  body_values_max: INBOUND_WEBHOOK_BODY_VALUES_MAX,
  body: providerBEventBody,
  handle: async ({ deps, body }) => {
    const { id: event_id, eventType: event_type, created_at } = body;
    const fact = factOfProviderB(body, deps.providerBMode);
    const event = { provider: 'b' as const, event_id, event_type, event_at: new Date(created_at) };
    return { status: await applyBillingEvent(deps, { ...event, fact }) };
  },
});

export const receiveProviderAEvent = endpoint({
  method: 'POST',
  path: '/v1/billing/providera/webhook',
  auth: ['provider_a_signature'],
  ok: 200,
  errors: REFUSALS,
  body_bytes_max: INBOUND_WEBHOOK_BODY_BYTES_MAX,
  body_values_max: INBOUND_WEBHOOK_BODY_VALUES_MAX,
  body: providerAEventBody,
  handle: async ({ deps, body }) => {
    const { id: event_id, type: event_type, created } = body;
    const event_at = new Date(created * 1000);
    const event = { provider: 'a' as const, event_id, event_type, event_at };
    const fact = factOfProviderA(body, deps.providerAMode);
    return { status: await applyBillingEvent(deps, { ...event, fact }) };
  },
});

export const postCancelSubscription = endpoint({
  method: 'POST',
  path: '/v1/billing/cancel-subscription',
  auth: ['dash'],
  ok: 200,
  errors: [
    'use_billing_portal',
    'no_subscription',
    'already_cancelling',
    'billing_unavailable',
    'providerb_request_failed',
  ],
  body: cancelSubscriptionBody,
  handle: async ({ deps, principal, request_id }) => {
    const { organization_id } = requireDashPrincipal(principal).organization;
    const actor = auditActor({ principal, request_id });
    return { status: await cancelSubscription(deps, { organization_id, actor }) };
  },
});
