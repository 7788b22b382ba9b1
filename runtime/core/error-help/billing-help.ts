/** Help with subscriptions and what payment providers tell. Spec: Billing; Infrastructure. */
import type { apiErrors } from '../errors.ts';
import type { HelpTable } from './help-table.ts';

const SENT_AGAIN =
  'Nothing has to be sent by hand: the provider repeats an event until it is recorded.';

export const billingHelp = {
  providerb_mode_mismatch: {
    cause:
      'A test event came to an installation for real payments, or a real one to a test installation.',
    steps: ['Correct the address of the webhook at the payment provider, one for each mode.'],
  },
  already_subscribed: {
    cause: 'The organization has a subscription that runs. A second one would be paid twice.',
    steps: ['Change the plan of the subscription that is there.'],
  },
  use_billing_portal: {
    cause:
      'The organization is billed by provider A, whose subscriptions are cancelled in its own portal.',
    steps: ['Open the billing portal and cancel there.'],
  },
  no_subscription: {
    cause:
      'The organization of this session has no subscription, so that there is nothing to cancel.',
    steps: ['Check with `GET /v1/me` that it is the right organization.'],
  },
  already_cancelling: {
    cause:
      'The subscription was cancelled before, and runs until the end of the time that is paid.',
    steps: ['There is nothing left to do; delivery goes on until then.'],
  },
  billing_unavailable: {
    cause: 'This installation has no payment provider configured, or cannot reach it.',
    steps: [
      'Try again later.',
      'Operators: check the settings of the payment provider, `TINTYPE_PROVIDER_A_…` or `TINTYPE_PROVIDER_B_…`.',
    ],
  },
  providera_request_failed: {
    cause:
      'Payment provider A was asked and did not answer, or answered something that was not expected.',
    steps: ['Try again after a minute.', 'If it stays, look at the status page of the provider.'],
  },
  providerb_request_failed: {
    cause:
      'Payment provider B was asked and did not answer, or answered something that was not expected. It is not known whether it did what was asked.',
    steps: [
      'Look at the subscription before you try again.',
      'If it stays, look at the status page of the provider.',
    ],
  },
  billing_price_mismatch: {
    cause:
      'A payment arrived whose price is not that of the plan that it is for. No credits were given.',
    steps: ['Correct the price in the plans file, or at the provider.', SENT_AGAIN],
  },
  billing_customer_unmapped: {
    cause:
      'A payment arrived from a customer of the provider who belongs to no organization here. No credits were given.',
    steps: [
      'Tell whose customer it is: with `organization_id` in the metadata at the provider, or as the page on billing says.',
      SENT_AGAIN,
    ],
  },
  billing_plan_unmapped: {
    cause: 'A payment arrived for a product that buys no plan here. No credits were given.',
    steps: [
      'Add the product to `TINTYPE_PROVIDER_A_PLANS` or `TINTYPE_PROVIDER_B_PLANS`, with a plan that there is.',
      SENT_AGAIN,
    ],
  },
  billing_subscription_mismatch: {
    cause:
      'An event arrived for a subscription that is not the one that is known of the organization. Nothing was changed.',
    steps: ['Find out which of the two is right, and correct the mapping.', SENT_AGAIN],
  },
  billing_grant_not_found: {
    cause:
      'An event corrects credits whose own event has not arrived yet. Events can overtake one another.',
    steps: [
      SENT_AGAIN,
      'If it stays, look for the first event in the log of the provider.',
      'Operators: of provider A, see that its webhook has `invoice_payment.paid` among its events.',
    ],
  },
} satisfies Partial<HelpTable<typeof apiErrors>>;
