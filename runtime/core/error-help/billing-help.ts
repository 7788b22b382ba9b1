/** Help with subscriptions and events of payment providers. Spec: Billing; Infrastructure. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

const SENT_AGAIN =
  'You do not have to send anything: the provider repeats an event until it is recorded.';

export const billingHelp = {
  providerb_mode_mismatch: {
    cause:
      'A test event arrived at an installation for real payments, or a real event at a test installation.',
    steps: ['Correct the webhook URL at the payment provider: each mode has its own.'],
  },
  already_subscribed: {
    cause:
      'The organization already has an active subscription. With a second one, it would pay twice.',
    steps: ['Change the plan of the existing subscription.'],
  },
  use_billing_portal: {
    cause:
      'The organization is billed by provider A, and its subscriptions are canceled in the provider’s own portal.',
    steps: ['Open the billing portal and cancel there.'],
  },
  no_subscription: {
    cause: 'The organization of this session has no subscription, so there is nothing to cancel.',
    steps: ['Check with `GET /v1/me` that it is the right organization.'],
  },
  already_cancelling: {
    cause: 'The subscription is already canceled and runs until the end of the paid period.',
    steps: ['You do not have to do anything; delivery continues until then.'],
  },
  billing_unavailable: {
    cause: 'This installation has no payment provider configured, or cannot reach it.',
    steps: [
      'Try again later.',
      'If you run the installation: check the settings of the payment provider, `TINTYPE_PROVIDER_A_…` or `TINTYPE_PROVIDER_B_…`.',
    ],
  },
  providera_request_failed: {
    cause: 'Payment provider A did not respond, or its response was not as expected.',
    steps: [
      'Try again after a minute.',
      'If the error persists, check the status page of the provider.',
    ],
  },
  providerb_request_failed: {
    cause:
      'Payment provider B did not respond, or its response was not as expected. It is unknown whether it carried out the request.',
    steps: [
      'Check the subscription before you try again.',
      'If the error persists, check the status page of the provider.',
    ],
  },
  billing_price_mismatch: {
    cause:
      'A payment arrived whose price does not match the price of its plan. No credits were given.',
    steps: ['Correct the price in the plans file, or at the provider.', SENT_AGAIN],
  },
  billing_customer_unmapped: {
    cause:
      'A payment arrived from a customer of the provider who does not belong to any organization here. No credits were given.',
    steps: [
      'Map the customer to an organization: with `organization_id` in the metadata at the provider, or as described on the page about billing.',
      SENT_AGAIN,
    ],
  },
  billing_plan_unmapped: {
    cause: 'A payment arrived for a product that buys no plan here. No credits were given.',
    steps: [
      'Add the product to `TINTYPE_PROVIDER_A_PLANS` or `TINTYPE_PROVIDER_B_PLANS`, with an existing plan.',
      SENT_AGAIN,
    ],
  },
  billing_subscription_mismatch: {
    cause:
      'An event arrived for a subscription that is not the one recorded for the organization. Nothing was changed.',
    steps: ['Find out which of the two is correct, and correct the mapping.', SENT_AGAIN],
  },
  billing_grant_not_found: {
    cause:
      'An event corrects credits, but the event that gives these credits has not arrived yet. Events can arrive out of order.',
    steps: [
      SENT_AGAIN,
      'If the error persists, look for the first event in the log of the provider.',
      'If you run the installation: for provider A, check that its webhook includes the event `invoice_payment.paid`.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
