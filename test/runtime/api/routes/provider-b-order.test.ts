// Spec: Infrastructure (POST /v1/billing/providerb/webhook): refunds, and events in the wrong order.

import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../runtime/core/durations.ts';
import { dayOf } from '../../../../runtime/core/metering.ts';
import { updateOverQuota } from '../../../../runtime/db/organizations.ts';
import { useApi } from '../../../support/api-server.ts';
import { auditEntries } from '../../../support/audit-entries.ts';
import { countBalance } from '../../../support/count-balance.ts';
import { NOW, useProviderB } from '../../../support/provider-b-tenant.ts';
import { messageB, newEventId, tellAll } from '../../../support/provider-events.ts';
import { must } from '../../../support/rows.ts';
import { makeCallbackProject } from '../../../support/webhooks.ts';

const api = useApi();
const { tenant, event, refund, send, organizationNow, statusNow, subscriptionNow, renew } =
  useProviderB(api);
const CALLBACK = { url: 'https://1.1.1.1/hook', secret: 'whsec_1' };

describe('a refund', () => {
  it('takes back its share of the credits, never more than were granted', async () => {
    const tran = `tran_${newEventId()}`;
    await send(event('subscription.paid', { object: { last_transaction_id: tran } }));
    const half = refund(tran, 950);
    expect(await send(half)).toBe('200 processed');
    expect(await send(half)).toBe('200 duplicate');
    expect((await organizationNow()).credit_balance).toBe(25_000);
    for (const _ of [1, 2]) await send(refund(tran, 1900));
    expect(await organizationNow()).toMatchObject({ credit_balance: 0 });
    expect((await organizationNow()).quota_exceeded_at).not.toBeNull();
    expect(await countBalance(api.db, tenant.organization_id)).toBe(0);
  });

  it('is audited once with the credits that it took back', async () => {
    const payment_id = `tran_${newEventId()}`;
    const paid = event('subscription.paid', { object: { last_transaction_id: payment_id } });
    const refunds = [refund(payment_id, 950), refund(payment_id, 1900), refund(payment_id, 1900)];
    // A second event about the same refund does not refund again.
    const again = { ...must(refunds[0]), id: newEventId() };
    const [first, ...later] = refunds;
    for (const sent of [paid, must(first), again, ...later]) await send(sent);
    const entries = await auditEntries(api.db, tenant, 'billing.%');
    // The last refund had no credits left to take back, so it has no entry.
    expect(entries.map(({ action, after }) => [action, after])).toMatchObject([
      ['billing.grant', { credits: 50_000, source: 'provider_b', payment_id, event_id: paid.id }],
      ['billing.refund', { credits: 25_000, payment_id, event_id: refunds[0]?.id }],
      ['billing.refund', { credits: 25_000, payment_id, event_id: refunds[1]?.id }],
    ]);
  });

  it('returns 503 billing_grant_not_found until its payment is known', async () => {
    const tran = `tran_${newEventId()}`;
    const early = refund(tran, 1900);
    expect(await send(early)).toBe('503 billing_grant_not_found');
    await send(event('subscription.paid', { object: { last_transaction_id: tran } }));
    expect(await send(early)).toBe('200 processed');
    expect((await organizationNow()).credit_balance).toBe(0);
  });
});

describe('an event that arrives days late', () => {
  it('dates its quota webhooks by the current day, and the subscription by its own time', async () => {
    const { organization_id } = tenant;
    const { project_id } = await makeCallbackProject(api.db, CALLBACK);
    await api.db.query('update projects set organization_id = $2 where project_id = $1', [
      project_id,
      organization_id,
    ]);
    await api.db.transaction((tx) => updateOverQuota(tx, organization_id));
    const created_at = NOW - 5 * DAY_MS;
    const object = { last_transaction_id: `tran_${newEventId()}`, status: 'active' };
    await send(event('subscription.paid', { created_at, object }));
    await send({ ...refund(object.last_transaction_id, 1900), created_at });
    const rows = await api.db.query(
      `select delivery_id, body::json #>> '{data,day}' as day from webhook_deliveries
       where project_id = $1 order by event desc`,
      [project_id],
    );
    const day = dayOf(new Date());
    const expected = ['quota.restored', 'quota.exceeded'].map((each) => ({
      delivery_id: `${each}:${organization_id}:${project_id}:${day}`,
      day,
    }));
    expect(rows).toEqual(expected);
    expect((await subscriptionNow())?.changed_at).toEqual(new Date(created_at));
  });
});

describe('a payment', () => {
  it('never resumes a subscription that is scheduled to end, whichever event comes first', async () => {
    for (const order of [1, -1]) {
      await renew();
      const events = [
        event('subscription.scheduled_cancel', { created_at: NOW + 1 }),
        event('subscription.paid', { created_at: NOW + 2 }),
      ];
      for (const each of order === 1 ? events : events.toReversed()) await send(each);
      expect(await statusNow()).toBe('scheduled_cancel');
      expect(await organizationNow()).toMatchObject({ plan: 'starter', credit_balance: 50_000 });
    }
  });

  it('sets the subscription to the status that it reports', async () => {
    await send(event('subscription.expired', { created_at: NOW + 1 }));
    await send(event('subscription.paid', { created_at: NOW + 2, object: { status: 'active' } }));
    expect(await statusNow()).toBe('active');
    const object = { status: 'scheduled_cancel' };
    await send(event('subscription.paid', { created_at: NOW + 3, object }));
    expect(await statusNow()).toBe('scheduled_cancel');
  });
});

describe('an ended subscription', () => {
  it('does not change the plan of the running one when its events arrive late', async () => {
    const ended = (type: string, id: string, after: number) =>
      event(type, { created_at: NOW + after, object: { id } });
    const { subscription_id: first } = tenant;
    const second = { id: `${first}_2`, product: { id: 'prod_b', price: 4900, currency: 'EUR' } };
    await send(event('subscription.paid'));
    await send(ended('subscription.expired', first, 1));
    await send(event('subscription.paid', { created_at: NOW + 2, object: second }));
    expect((await organizationNow()).plan).toBe('builder');
    expect(await send(ended('subscription.canceled', first, 3))).toBe('200 processed');
    expect(await statusNow()).toBe('canceled');
    // Likewise for a subscription that was unknown while it was active.
    expect(await send(ended('subscription.expired', `${first}_0`, 4))).toBe('200 processed');
    expect((await organizationNow()).plan).toBe('builder');
    await send(ended('subscription.canceled', second.id, 5));
    expect((await organizationNow()).plan).toBe('trial');
  });
});

describe('events of one subscription', () => {
  const random = (seed: number) => () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };

  it('lead to the same state in any order, however often they are sent', async () => {
    for (let seed = 1; seed <= 8; seed++) {
      await renew();
      const types = [
        ...['subscription.active', 'subscription.paid', 'subscription.scheduled_cancel'],
        ...['subscription.active', 'subscription.paid', 'subscription.scheduled_cancel'],
        ...(seed % 2 === 0 ? ['subscription.canceled'] : []),
      ];
      const messages = types.map((type, at) => messageB(event(type, { created_at: NOW + at })));
      const next = random(seed);
      await tellAll(api.send, messages, (values) =>
        values
          .map((value) => [next(), value] as const)
          .toSorted(([a], [b]) => a - b)
          .map(([, value]) => value),
      );
      expect(await statusNow()).toBe(seed % 2 === 0 ? 'canceled' : 'scheduled_cancel');
      expect(await organizationNow()).toMatchObject({
        credit_balance: 100_000,
        plan: seed % 2 === 0 ? 'trial' : 'starter',
      });
    }
  });
});
