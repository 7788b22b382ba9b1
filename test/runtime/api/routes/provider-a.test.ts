// Spec: PaymentProviderASignature; Infrastructure (the same guarantees as for provider B).
import { beforeEach, describe, expect, it } from 'vitest';
import { defaultPlans, type Plans } from '../../../../runtime/core/plans.ts';
import { findOrganization, type OrganizationRow } from '../../../../runtime/db/organizations.ts';
import { findSubscription } from '../../../../runtime/db/subscriptions.ts';
import { useApi } from '../../../support/api-server.ts';
import { auditEntries } from '../../../support/audit-entries.ts';
import {
  type EventA,
  messageA,
  newEventId,
  PROVIDER_A_SECRET,
  saidOf,
  signedA,
  tell,
  tellAll,
} from '../../../support/provider-events.ts';
import { makeOrganization } from '../../../support/rows.ts';

const api = useApi();
const NOW = Math.floor(Date.now() / 1000);
const plans: Plans = {
  ...defaultPlans,
  builder: { ...defaultPlans.builder, price: { amount: 4900, currency: 'EUR' } },
};
const products = { a: { price_s: 'starter', price_b: 'builder' }, b: {} };
const settings = { plans, products, providerASecret: PROVIDER_A_SECRET };
let organization: OrganizationRow;
let subscription = '';
let customer = '';

beforeEach(async () => {
  api.change(settings);
  organization = await makeOrganization(api.db);
  subscription = `sub_${newEventId()}`;
  customer = `cus_${newEventId()}`;
});

const event = (type: string, object: object, more: object = {}): EventA => ({
  id: newEventId(),
  type,
  created: NOW,
  data: { object, ...more },
});
const metadata = () => ({ organization_id: organization.organization_id });

type NewLine = { price: string; amount: number; unit_amount?: number };
const NO_PRORATION = { proration: false, of: 'subscription_item_details' };

/** An invoice line in the provider's format since 2025-03-31; in a trial, the unit amount is 0. */
const newLine = (
  { price, amount, unit_amount = amount }: NewLine,
  { proration, of } = NO_PRORATION,
) => ({
  object: 'line_item',
  amount,
  currency: 'eur',
  parent: {
    type: of,
    invoice_item_details: null,
    subscription_item_details: null,
    [of]: { invoice_item: null, proration, proration_details: null, subscription },
  },
  pricing: {
    type: 'price_details',
    price_details: { price, product: 'prod_1' },
    unit_amount_decimal: String(unit_amount),
  },
});

/** Invoices in the format before 2025-03-31, and in the one since. */
const invoices = {
  'of the old form': (price: object, id = `in_${newEventId()}`) => ({
    id,
    customer,
    subscription,
    subscription_details: { metadata: metadata() },
    lines: { data: [{ amount: 1900, proration: false, currency: 'eur', price }] },
  }),
  // The first line is the proration of a plan change within the period, at the old plan's price.
  'of the new form': (
    { id: price, unit_amount }: { id: string; unit_amount: number },
    id = `in_${newEventId()}`,
  ) => ({
    id,
    customer,
    parent: {
      type: 'subscription_details',
      subscription_details: { subscription, metadata: metadata() },
    },
    lines: {
      data: [
        newLine({ price: 'price_b', amount: 250 }, { proration: true, of: 'invoice_item_details' }),
        newLine({ price, amount: 1900, unit_amount }),
      ],
    },
  }),
};
const STARTER = { id: 'price_s', unit_amount: 1900, currency: 'eur' };
const invoice = invoices['of the old form'];

const state = (status: string, more: object = {}) => ({
  id: subscription,
  customer: { id: customer },
  status,
  items: { data: [{ price: STARTER }] },
  metadata: metadata(),
  ...more,
});

const send = async (sent: EventA) => saidOf(await tell(api.send, messageA(sent)));
const organizationNow = () => findOrganization(api.db, organization.organization_id);
const statusNow = async () =>
  (await findSubscription(api.db, { provider: 'a', subscription_id: subscription }))?.status;

describe.each(Object.entries(invoices))('a paid invoice %s', (_name, print) => {
  it('grants the credits of its plan once', async () => {
    const paid = event('invoice.paid', print(STARTER, 'in_1'.concat(subscription)));
    expect(await send(paid)).toBe('200 processed');
    expect(await send(paid)).toBe('200 duplicate');
    expect(await send({ ...paid, id: newEventId() })).toBe('200 processed');
    expect(await organizationNow()).toMatchObject({ credit_balance: 50_000, plan: 'starter' });
    expect(await send(event('invoice.paid', print(STARTER)))).toBe('200 processed');
    expect(await organizationNow()).toMatchObject({ credit_balance: 100_000 });
  });

  it('returns 503 billing_price_mismatch if its price is not that of its plan', async () => {
    const wrong = { id: 'price_b', unit_amount: 100, currency: 'eur' };
    expect(await send(event('invoice.paid', print(wrong)))).toBe('503 billing_price_mismatch');
    const right = { ...wrong, unit_amount: 4900 };
    expect(await send(event('invoice.paid', print(right)))).toBe('200 processed');
    expect(await organizationNow()).toMatchObject({ credit_balance: 250_000 });
  });
});

describe('a paid invoice', () => {
  it('returns 503 for an unknown customer or plan or a second subscription, and is not recorded', async () => {
    // What was recorded would be a duplicate when it is sent again.
    const sendTwice = async (object: object) => {
      const paid = event('invoice.paid', object);
      return [await send(paid), await send(paid)];
    };
    const nobody = { ...invoice(STARTER), subscription_details: null };
    expect(await sendTwice(nobody)).toEqual(Array(2).fill('503 billing_customer_unmapped'));
    const unknown = invoice({ id: 'price_x', unit_amount: 1, currency: 'eur' });
    expect(await sendTwice(unknown)).toEqual(Array(2).fill('503 billing_plan_unmapped'));
    await send(event('invoice.paid', invoice(STARTER)));
    const other = { ...invoice(STARTER), subscription: `${subscription}_2` };
    expect(await sendTwice(other)).toEqual(Array(2).fill('503 billing_subscription_mismatch'));
    expect(await organizationNow()).toMatchObject({ credit_balance: 50_000 });
  });

  it('returns 400 invalid_request if its mode is not that of the deployment', async () => {
    const paid = { ...event('invoice.paid', invoice(STARTER)), livemode: false };
    api.change({ ...settings, providerAMode: 'live' });
    expect(await send(paid)).toBe('400 invalid_request');
    expect(await send({ ...paid, livemode: true })).toBe('200 processed');
    api.change({ ...settings, providerAMode: 'test' });
    expect(await send({ ...paid, id: newEventId(), livemode: true })).toBe('400 invalid_request');
    expect(await send({ ...paid, id: newEventId() })).toBe('200 processed');
    expect(await organizationNow()).toMatchObject({ credit_balance: 50_000 });
  });

  it('grants nothing for a trial period, but the plan’s credits for a price of zero', async () => {
    const of = (price: object) => ({
      ...invoice(price),
      lines: { data: [{ amount: 0, proration: false, currency: 'eur', price }] },
    });
    expect(await send(event('invoice.paid', of(STARTER)))).toBe('200 ignored');
    expect(await organizationNow()).toMatchObject({ credit_balance: 0 });
    const free = { ...STARTER, unit_amount: 0 };
    expect(await send(event('invoice.paid', of(free)))).toBe('200 processed');
    expect(await organizationNow()).toMatchObject({ credit_balance: 50_000 });
  });

  it('grants nothing if it only has a proration', async () => {
    const proration = { amount: 900, proration: true, currency: 'eur', price: STARTER };
    const changed = { ...invoice(STARTER), lines: { data: [proration] } };
    expect(await send(event('invoice.paid', changed))).toBe('200 ignored');
    expect(await organizationNow()).toMatchObject({ credit_balance: 0 });
  });

  it('grants nothing in the new form either for a trial period or a proration', async () => {
    const of = (...data: object[]) =>
      event('invoice.paid', { ...invoices['of the new form'](STARTER), lines: { data } });
    const trial = newLine({ price: 'price_s', amount: 0 });
    expect(await send(of(trial))).toBe('200 ignored');
    for (const at of ['subscription_item_details', 'invoice_item_details']) {
      const proration = { proration: true, of: at };
      const before = newLine({ price: 'price_s', amount: -100 }, proration);
      const after = newLine({ price: 'price_b', amount: 250 }, proration);
      expect(await send(of(before, after)), at).toBe('200 ignored');
    }
    expect(await organizationNow()).toMatchObject({ credit_balance: 0 });
  });

  it('grants its plan after any other items, and returns 400 if its lines are cut off before it', async () => {
    const price = { id: 'price_setup', unit_amount: 4900, currency: 'eur' };
    const old = { type: 'invoiceitem', amount: 4900, proration: false, currency: 'eur', price };
    const at = { proration: false, of: 'invoice_item_details' };
    const single = {
      'of the old form': old,
      'of the new form': newLine({ price: 'price_setup', amount: 4900 }, at),
    };
    for (const form of ['of the old form', 'of the new form'] as const) {
      const whole = invoices[form](STARTER);
      const of = (lines: object) => event('invoice.paid', { ...whole, lines });
      const alone = { data: [single[form]] };
      expect(await send(of({ ...alone, has_more: false })), form).toBe('200 ignored');
      expect(await send(of({ ...alone, has_more: true })), form).toBe('400 invalid_request');
      const all = { data: [single[form], ...whole.lines.data], has_more: true };
      expect(await send(of(all)), form).toBe('200 processed');
    }
    expect(await organizationNow()).toMatchObject({ credit_balance: 100_000 });
  });

  it('does not resume a subscription that is scheduled to end', async () => {
    const ending = event('customer.subscription.updated', state('active', { cancel_at: NOW }));
    expect(await send(ending)).toBe('200 processed');
    const later = { ...event('invoice.paid', invoice(STARTER)), created: NOW + 5 };
    expect(await send(later)).toBe('200 processed');
    expect(await statusNow()).toBe('scheduled_cancel');
    expect(await organizationNow()).toMatchObject({ credit_balance: 50_000, plan: 'starter' });
  });

  it('is ignored if it belongs to no subscription', async () => {
    const { subscription: _, subscription_details: __, ...single } = invoice(STARTER);
    expect(await send(event('invoice.paid', single))).toBe('200 ignored');
    expect(await send(event('customer.updated', { id: customer }))).toBe('200 ignored');
  });
});

describe('a subscription', () => {
  it('follows the status that the provider reports', async () => {
    const steps: [string, object, string][] = [
      ['customer.subscription.created', state('active'), 'active'],
      [
        'customer.subscription.updated',
        state('active', { cancel_at_period_end: true }),
        'scheduled_cancel',
      ],
      ['customer.subscription.updated', state('active'), 'active'],
      ['customer.subscription.updated', state('past_due'), 'active'],
      ['customer.subscription.updated', state('unpaid'), 'expired'],
      ['customer.subscription.updated', state('active'), 'active'],
      ['customer.subscription.updated', state('paused'), 'expired'],
      ['customer.subscription.updated', state('active'), 'active'],
      ['customer.subscription.deleted', state('canceled'), 'canceled'],
    ];
    for (const [at, [type, object, status]] of steps.entries()) {
      const message = { ...event(type, object), created: NOW + at };
      expect(await send(message)).toBe('200 processed');
      expect(await statusNow(), type).toBe(status);
      const plan = ['canceled', 'expired'].includes(status) ? 'trial' : 'starter';
      expect(await organizationNow()).toMatchObject({ plan, credit_balance: 0 });
    }
    const incomplete = event('customer.subscription.created', state('incomplete'));
    expect(await send(incomplete)).toBe('200 ignored');
  });

  it('reaches the same state even if its events arrive in reverse order and twice', async () => {
    const messages = [
      event('customer.subscription.created', state('active')),
      event('invoice.paid', invoice(STARTER)),
      event('customer.subscription.updated', state('active', { cancel_at: NOW + 1000 })),
      event('customer.subscription.deleted', state('canceled')),
    ].map((each, at) => messageA({ ...each, created: NOW + at }));
    await tellAll(api.send, messages, (values) => values.toReversed());
    expect(await statusNow()).toBe('canceled');
    expect(await organizationNow()).toMatchObject({ plan: 'trial', credit_balance: 50_000 });
  });
});

describe('the audit log of an organization', () => {
  it('records each grant and each refund once, with its event and payment', async () => {
    const payment = invoice(STARTER);
    const paid = event('invoice.paid', payment);
    const charge = { id: 'ch_2', invoice: payment.id, amount: 1900, amount_refunded: 950 };
    const refund = event('charge.refunded', charge);
    for (const sent of [paid, paid, { ...paid, id: newEventId() }, refund, refund]) {
      await send(sent);
    }
    const of = { source: 'provider_a', payment_id: payment.id };
    const given = { ...of, credits: 50_000, event_id: paid.id, subscription_id: subscription };
    const taken = { ...of, credits: 25_000, event_id: refund.id };
    const target = organization.organization_id;
    // Providers are not actors of the audit log: their events are recorded as the system's.
    const operation = { actor_kind: 'system', actor_id: null, target, before: null };
    expect(await auditEntries(api.db, organization, 'billing.%')).toMatchObject([
      { ...operation, action: 'billing.grant', after: given },
      { ...operation, action: 'billing.refund', after: taken },
    ]);
  });
});

describe('a refund', () => {
  it('takes back the share of the credits that its event reports', async () => {
    const paid = invoice(STARTER);
    await send(event('invoice.paid', paid));
    const charge = { id: 'ch_1', invoice: paid.id, amount: 1900 };
    const refund = (amount_refunded: number, before: number) =>
      event(
        'charge.refunded',
        { ...charge, amount_refunded },
        { previous_attributes: { amount_refunded: before } },
      );
    for (const [all, before, left] of [
      [633, 0, 33_343],
      [1267, 633, 16_658],
      [1900, 1267, 0],
    ] as const) {
      expect(await send(refund(all, before))).toBe('200 processed');
      expect(await organizationNow()).toMatchObject({ credit_balance: left });
    }
    const unknown = { ...charge, invoice: 'in_none', amount_refunded: 1 };
    expect(await send(event('charge.refunded', unknown))).toBe('503 billing_grant_not_found');
    expect(await send(event('charge.refunded', { ...unknown, invoice: null }))).toBe('200 ignored');
  });
});

describe('a refund of the new form', () => {
  /** A payment and its refund. Only the invoice payment links a charge to its invoice. */
  const payment = () => {
    const paid = invoices['of the new form'](STARTER);
    const payment_intent = `pi_${paid.id}`;
    const link = { id: `inpay_${paid.id}`, object: 'invoice_payment', status: 'paid' };
    const paidBy = (payment: object) => ({
      ...link,
      amount_paid: 1900,
      invoice: paid.id,
      payment,
    });
    const back = { id: `ch_${paid.id}`, customer, amount: 1900, amount_refunded: 1900 };
    return {
      paid: event('invoice.paid', paid),
      link: event('invoice_payment.paid', paidBy({ type: 'payment_intent', payment_intent })),
      linkOfCharge: event('invoice_payment.paid', paidBy({ type: 'charge', charge: back.id })),
      refund: event('charge.refunded', { ...back, payment_intent }),
      refundOfCharge: event('charge.refunded', { ...back, payment_intent: null }),
      record: event(
        'invoice_payment.paid',
        paidBy({ type: 'payment_record', payment_record: 'p' }),
      ),
    };
  };

  it('takes back the credits of the invoice that its payment paid', async () => {
    const { paid, link, refund } = payment();
    for (const sent of [paid, link, refund]) expect(await send(sent)).toBe('200 processed');
    expect(await send(refund)).toBe('200 duplicate');
    expect(await organizationNow()).toMatchObject({ credit_balance: 0 });
    const [, taken] = await auditEntries(api.db, organization, 'billing.%');
    const payment_id = (paid.data as { object: { id: string } }).object.id;
    expect(taken).toMatchObject({ action: 'billing.refund', after: { payment_id } });
  });

  it('returns 503 until its payment and its invoice are known, in whatever order they arrive', async () => {
    const orders = [['paid', 'link'] as const, ['link', 'paid'] as const];
    for (const order of orders) {
      const of = payment();
      for (const each of order) {
        expect(await send(of.refund)).toBe('503 billing_grant_not_found');
        expect(await send(of[each])).toBe('200 processed');
      }
      expect(await send(of.refund)).toBe('200 processed');
      expect(await organizationNow()).toMatchObject({ credit_balance: 0 });
    }
  });

  it('finds a charge without a payment intent, and ignores a guest’s charge', async () => {
    const { paid, linkOfCharge, refundOfCharge, record } = payment();
    expect(await send(record)).toBe('200 ignored');
    for (const sent of [paid, linkOfCharge, refundOfCharge]) {
      expect(await send(sent)).toBe('200 processed');
    }
    expect(await organizationNow()).toMatchObject({ credit_balance: 0 });
    const guest = { id: 'ch_9', customer: null, payment_intent: 'pi_9', amount: 1 };
    expect(await send(event('charge.refunded', { ...guest, amount_refunded: 1 }))).toBe(
      '200 ignored',
    );
  });
});

describe('the signature of provider A', () => {
  it('is accepted within 300 seconds of now, before or after, and only for exactly these bytes', async () => {
    const sent = event('customer.updated', {});
    const at = (seconds: number) => ({ at: new Date(Date.now() + seconds * 1000) });
    for (const seconds of [-290, 0, 290]) {
      expect(saidOf(await tell(api.send, messageA(sent, at(seconds))))).toBe('200 ignored');
    }
    const message = messageA(sent);
    const wrong = [
      messageA(sent, at(-310)),
      messageA(sent, at(310)),
      messageA(sent, { secret: 'whsec_other' }),
      { ...message, body: `${message.body} ` },
      { ...message, headers: {} },
      { ...message, headers: { 'provider-a-signature': 't=1,v0=ab' } },
    ];
    for (const each of wrong) {
      expect(saidOf(await tell(api.send, each))).toBe('401 invalid_signature');
    }
    expect(saidOf(await tell(api.send, signedA('{"id":')))).toBe('400 invalid_json');
    const large = event('customer.updated', {}, { more: 'x'.repeat(1024 * 1024) });
    expect(saidOf(await tell(api.send, messageA(large)))).toBe('413 payload_too_large');
    api.change({ providerASecret: undefined });
    expect(saidOf(await tell(api.send, message))).toBe('503 billing_unavailable');
  });
});
