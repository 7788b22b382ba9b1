// Spec: Infrastructure (POST /v1/billing/providerb/webhook); Organization quota (credits added).
import { describe, expect, it } from 'vitest';
import { signProviderB } from '../../../../runtime/core/signing/provider-b.ts';
import { updateOverQuota } from '../../../../runtime/db/organizations.ts';
import { createMetrics, type Metrics } from '../../../../runtime/platform/metrics.ts';
import { useApi } from '../../../support/api-server.ts';
import { countBalance } from '../../../support/count-balance.ts';
import { NOW, useProviderB } from '../../../support/provider-b-tenant.ts';
import {
  type EventB,
  messageB,
  newEventId,
  PROVIDER_B_SECRET,
  saidOf,
  tell,
} from '../../../support/provider-events.ts';
import { makeOrganization } from '../../../support/rows.ts';
import { makeCallbackProject } from '../../../support/webhooks.ts';

const api = useApi();
const { tenant, event, send, organizationNow, statusNow, dieAt } = useProviderB(api);

async function isUntouched(): Promise<void> {
  const { credit_balance, plan } = await organizationNow();
  expect({ credit_balance, plan }).toEqual({ credit_balance: 0, plan: 'trial' });
  expect(await statusNow()).toBeUndefined();
}

async function counted(metrics: Metrics): Promise<Record<string, number>> {
  const { text } = await metrics.print();
  const samples = text.matchAll(
    /^tintype_provider_events_total\{provider="b",result="(\w+)"\} (\d+)$/gm,
  );
  return Object.fromEntries([...samples].map(([, result = '', count]) => [result, Number(count)]));
}

describe('a paid subscription', () => {
  it('grants its plan, and the plan’s credits once per payment', async () => {
    const paid = event('subscription.paid');
    expect(await send(paid)).toBe('200 processed');
    expect(await send(paid)).toBe('200 duplicate');
    // A second event about the same payment grants nothing; the next payment does.
    expect(await send({ ...paid, id: newEventId() })).toBe('200 processed');
    expect(await organizationNow()).toMatchObject({ credit_balance: 50_000, plan: 'starter' });
    expect(await send(event('subscription.paid', { created_at: NOW + 1 }))).toBe('200 processed');
    expect(await organizationNow()).toMatchObject({ credit_balance: 100_000 });
    expect(await countBalance(api.db, tenant.organization_id)).toBe(100_000);
    expect(await statusNow()).toBe('active');
  });

  it('counts whatever keys a signed event has beside those that are read', async () => {
    const paid = event('subscription.paid');
    const { metadata, ...rest } = paid.object as Record<string, unknown>;
    const kept = JSON.stringify(metadata ?? {}).slice(1, -1);
    const unread = '"a":1,"a":2,"\\u005f_proto__":{"organization_id":"org_other"}';
    const written = `{${[unread, kept].filter((part) => part !== '').join()}}`;
    const object = `{${JSON.stringify(rest).slice(1, -1)},"metadata":${written}}`;
    const body = `{"__proto__":1,${JSON.stringify({ ...paid, object: 'here' })
      .slice(1)
      .replace('"here"', object)}`;
    const signature = signProviderB(PROVIDER_B_SECRET, Buffer.from(body));
    const headers = { 'provider-b-signature': signature };
    expect(saidOf(await tell(api.send, { ...messageB(paid), body, headers }))).toBe(
      '200 processed',
    );
    expect(await organizationNow()).toMatchObject({ credit_balance: 50_000, plan: 'starter' });
  });

  it('grants its credits once if the same event arrives fifty times concurrently', async () => {
    const paid = event('subscription.paid');
    const said = await Promise.all(Array.from({ length: 50 }, () => send(paid)));
    expect(said.filter((each) => each === '200 processed')).toHaveLength(1);
    expect(said.filter((each) => each === '200 duplicate')).toHaveLength(49);
    expect(await organizationNow()).toMatchObject({ credit_balance: 50_000 });
  });

  it('grants its credits once if the process dies before or after the commit', async () => {
    for (const [step, then] of [
      ['billing.before_commit', '200 processed'],
      ['billing.committed', '200 duplicate'],
    ] as const) {
      const sent = event('subscription.paid', { created_at: NOW + 1 });
      const before = (await organizationNow()).credit_balance;
      dieAt(step);
      expect(await send(sent)).toBe('500 internal');
      expect((await organizationNow()).credit_balance - before).toBe(
        step === 'billing.committed' ? 50_000 : 0,
      );
      dieAt();
      expect(await send(sent)).toBe(then);
      expect((await organizationNow()).credit_balance - before).toBe(50_000);
    }
  });

  it('clears quota_exceeded_at and sends quota.restored to a project with a callback URL', async () => {
    const { organization_id } = tenant;
    const { project_id } = await makeCallbackProject(api.db, {
      url: 'https://1.1.1.1/hook',
      secret: 'whsec_1',
    });
    await api.db.query('update projects set organization_id = $2 where project_id = $1', [
      project_id,
      organization_id,
    ]);
    await api.db.transaction((tx) => updateOverQuota(tx, organization_id));
    await send(event('subscription.paid'));
    expect((await organizationNow()).quota_exceeded_at).toBeNull();
    const rows = await api.db.query<{ event: string }>(
      'select event from webhook_deliveries where project_id = $1',
      [project_id],
    );
    expect(rows).toEqual([{ event: 'quota.restored' }]);
  });
});

describe('an event of provider B', () => {
  it('grants no credits unless it is a payment', async () => {
    for (const type of ['subscription.active', 'subscription.update', 'checkout.completed']) {
      expect(await send(event(type, { object: { status: 'active' } })), type).toBe('200 processed');
    }
    for (const type of ['dispute.created', 'something.new']) {
      expect(await send(event(type)), type).toBe('200 ignored');
    }
    expect((await organizationNow()).credit_balance).toBe(0);
  });

  it.each([
    ['past_due', 'active'],
    ['trialing', 'active'],
    ['scheduled_cancel', 'scheduled_cancel'],
    ['canceled', 'canceled'],
    ['expired', 'expired'],
  ])('that reports a subscription as %s makes it %s', async (status, expected) => {
    await send(event('subscription.scheduled_cancel'));
    const update = event('subscription.update', { created_at: NOW + 1, object: { status } });
    expect(await send(update)).toBe('200 processed');
    expect(await statusNow()).toBe(expected);
    const plan = ['canceled', 'expired'].includes(expected) ? 'trial' : 'starter';
    expect((await organizationNow()).plan).toBe(plan);
  });

  it('is rejected without being recorded if its mode, fields, customer, plan or price is wrong', async () => {
    const refused: [string, EventB][] = [
      ['400 providerb_mode_mismatch', event('subscription.paid', { object: { mode: 'live' } })],
      ['400 providerb_mode_mismatch', event('subscription.paid', { object: { mode: undefined } })],
      ['400 invalid_request', event('subscription.paid', { object: { customer: 7 } })],
      ['503 billing_customer_unmapped', event('subscription.paid', { object: { metadata: {} } })],
      [
        '503 billing_customer_unmapped',
        event('subscription.paid', { object: { metadata: { organization_id: 'org_none' } } }),
      ],
      ['503 billing_plan_unmapped', event('subscription.paid', { object: { product: 'prod_x' } })],
      [
        '503 billing_plan_unmapped',
        event('subscription.paid', { object: { product: 'prod_old' } }),
      ],
      [
        '503 billing_plan_unmapped',
        event('subscription.paid', { object: { product: 'toString' } }),
      ],
      [
        '503 billing_price_mismatch',
        event('subscription.paid', {
          object: { product: { id: 'prod_b', price: 100, currency: 'EUR' } },
        }),
      ],
      [
        '503 billing_price_mismatch',
        event('subscription.paid', {
          object: { product: { id: 'prod_b', price: 4900, currency: 'USD' } },
        }),
      ],
      ['503 billing_price_mismatch', event('subscription.paid', { object: { product: 'prod_b' } })],
    ];
    for (const [said, sent] of refused) {
      expect(await send(sent)).toBe(said);
      const rows = await api.db.query('select from provider_events where event_id = $1', [sent.id]);
      expect(rows).toEqual([]);
    }
    await isUntouched();
    const product = { id: 'prod_b', price: 4900, currency: 'eur' };
    expect(await send(event('subscription.paid', { object: { product } }))).toBe('200 processed');
  });

  it('is counted in the metrics as taken, refused or unsigned', async () => {
    const before = await counted(api.deps().metrics);
    expect(Object.keys(before).sort()).toEqual(['refused', 'taken', 'unsigned']);
    await send(event('subscription.paid', { object: { product: 'prod_x' } }));
    const strange = messageB(event('subscription.paid'), 'another secret');
    await tell(api.send, strange);
    const coded = { ...strange.headers, 'content-encoding': 'gzip' };
    expect((await tell(api.send, { ...strange, headers: coded })).status).toBe(400);
    const taken = event('subscription.paid');
    await send(taken);
    await send(taken);
    const { refused = 0, taken: all = 0, unsigned = 0 } = before;
    await expect
      .poll(() => counted(api.deps().metrics))
      .toEqual({ refused: refused + 1, taken: all + 2, unsigned: unsigned + 2 });
  });

  it('is not counted in the metrics if provider B is not configured', async () => {
    const metrics = createMetrics();
    api.change({ providerASecret: 'of another', providerBSecret: undefined, metrics });
    const sent = await tell(api.send, messageB(event('subscription.paid')));
    expect(saidOf(sent)).toBe('503 billing_unavailable');
    const seen = async () => (await metrics.print()).text;
    await expect.poll(seen).toContain('route="/v1/billing/providerb/webhook",status="503"');
    expect(await counted(metrics)).toEqual({});
    expect(await seen()).toContain('provider="a",result="refused"} 0');
  });

  it('is rejected until its customer is known, and then accepted', async () => {
    const paid = event('subscription.paid', { object: { metadata: undefined } });
    expect(await send(paid)).toBe('503 billing_customer_unmapped');
    expect(await send(event('checkout.completed'))).toBe('200 processed');
    expect(await send(paid)).toBe('200 processed');
    expect((await organizationNow()).credit_balance).toBe(50_000);
  });

  it('is rejected for another organization, or for another subscription until the first has ended', async () => {
    await send(event('subscription.paid'));
    const another = event('subscription.paid', { object: { id: `${tenant.subscription_id}_2` } });
    expect(await send(another)).toBe('503 billing_subscription_mismatch');
    const other = await makeOrganization(api.db);
    const metadata = { organization_id: other.organization_id };
    expect(await send(event('subscription.paid', { object: { metadata } }))).toBe(
      '503 billing_subscription_mismatch',
    );
    const elsewhere = { metadata, customer: `${tenant.customer}_2` };
    expect(await send(event('subscription.paid', { object: elsewhere }))).toBe(
      '503 billing_subscription_mismatch',
    );
    expect((await organizationNow()).credit_balance).toBe(50_000);
    // Once the first subscription has ended, the other replaces it.
    await send(event('subscription.canceled', { created_at: NOW + 1 }));
    expect((await organizationNow()).plan).toBe('trial');
    expect(await send(another)).toBe('200 processed');
    expect(await organizationNow()).toMatchObject({ plan: 'starter', credit_balance: 100_000 });
  });

  it('is rejected if its signature or its body is invalid, or no secret is configured', async () => {
    const message = messageB(event('subscription.paid'));
    const wrong = [
      messageB(event('subscription.paid'), 'another secret'),
      { ...message, body: `${message.body} ` },
      { ...message, headers: {} },
      { ...message, headers: { 'provider-b-signature': 'x' } },
    ];
    for (const each of wrong) {
      expect(saidOf(await tell(api.send, each))).toBe('401 invalid_signature');
    }
    const body = '{"id":';
    const signature = signProviderB(PROVIDER_B_SECRET, Buffer.from(body));
    const cut = { ...message, body, headers: { 'provider-b-signature': signature } };
    expect(saidOf(await tell(api.send, cut))).toBe('400 invalid_json');
    const { created_at: _, ...partly } = event('subscription.paid');
    expect(saidOf(await tell(api.send, messageB(partly as EventB)))).toBe('400 invalid_request');
    const large = { ...event('subscription.paid'), more: 'x'.repeat(1024 * 1024) };
    expect(saidOf(await tell(api.send, messageB(large)))).toBe('413 payload_too_large');
    api.change({ providerBSecret: undefined });
    expect(saidOf(await tell(api.send, message))).toBe('503 billing_unavailable');
    await isUntouched();
  });

  it('is rejected if an id cannot be stored, and ignored for a type or status such as constructor', async () => {
    const objects = [
      { id: 'a\u0000' },
      { customer: 'a\u0000' },
      { metadata: { organization_id: '\u0000' } },
    ];
    for (const object of objects) {
      expect(await send(event('subscription.paid', { object }))).toBe('400 invalid_request');
    }
    const long = 'x'.repeat(256);
    expect(await send(event('subscription.paid', { id: long }))).toBe('400 invalid_request');
    expect(await send(event(long))).toBe('400 invalid_request');
    expect(await send(event('constructor'))).toBe('200 ignored');
    const update = event('subscription.update', { object: { status: 'toString' } });
    expect(await send(update)).toBe('200 ignored');
    await isUntouched();
  });
});
