// Spec: Billing (POST /v1/billing/cancel-subscription).
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SubscriptionStatus } from '../../../../runtime/core/states.ts';
import { findOrganization } from '../../../../runtime/db/organizations.ts';
import { findSubscription, upsertSubscription } from '../../../../runtime/db/subscriptions.ts';
import { openProviderB, type ProviderB } from '../../../../runtime/platform/billing/provider-b.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { type Caller, codeOf, newSubject } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import { createManualClock, type ManualClock } from '../../../support/manual-clock.ts';
import {
  PROVIDER_B_KEY,
  type ProviderBServer,
  startProviderBServer,
} from '../../../support/provider-b-server.ts';
import {
  messageB,
  newEventId,
  PROVIDER_B_SECRET,
  saidOf,
  tell as tellProvider,
} from '../../../support/provider-events.ts';
import { throughDatabase } from '../../../support/through-database.ts';

const api = useApi();
const PATH = '/v1/billing/cancel-subscription';
let provider: ProviderBServer;
let providerB: ProviderB;
let clock: ManualClock;
let owner: Caller;
let organization_id = '';
let subscription_id = '';

beforeAll(async () => {
  provider = await startProviderBServer();
});
afterAll(() => provider.close());
beforeEach(async () => {
  provider.behavior = 'well';
  provider.calls.length = 0;
  provider.canceled.length = 0;
  clock = createManualClock();
  const log = createLog({ level: 'silent', name: 'test' });
  const { url } = provider;
  const options = { url, api_key: PROVIDER_B_KEY, clock, log, deadline_ms: 300 };
  providerB = openProviderB(options);
  api.change({ providerB });
  owner = api.session(newSubject());
  organization_id = (await owner('GET', '/v1/me')).body.organization.organization_id;
  subscription_id = `sub_${newSubject()}`;
});

async function subscribe(status: SubscriptionStatus = 'active', of: 'a' | 'b' = 'b') {
  const plan = 'starter';
  const row = { provider: of, subscription_id, organization_id, plan, status };
  await api.db.transaction((tx) =>
    upsertSubscription(tx, { ...row, changed_at: new Date(0), organization_plan: plan }),
  );
  provider.subscriptions.set(subscription_id, status);
}

const cancel = (body?: unknown) => owner('POST', PATH, body);
const statusNow = async () =>
  (await findSubscription(api.db, { provider: 'b', subscription_id }))?.status;

describe('canceling a subscription', () => {
  it('schedules the cancellation at the provider once, and records it in the audit log', async () => {
    await subscribe();
    const answer = await cancel();
    expect([answer.status, answer.body]).toEqual([200, { status: 'scheduled_cancel' }]);
    expect(provider.canceled).toEqual([subscription_id]);
    expect(await statusNow()).toBe('scheduled_cancel');
    expect(codeOf(await cancel({}))).toBe('409 already_cancelling');
    const audited = await api.db.query(
      `select action, target, after from audit_log where organization_id = $1 and action like 'billing.%'`,
      [organization_id],
    );
    expect(audited).toEqual([
      {
        action: 'billing.cancel_subscription',
        target: subscription_id,
        after: { status: 'scheduled_cancel' },
      },
    ]);
  });

  it('reaches the provider once for ten concurrent requests', async () => {
    await subscribe();
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel()));
    const codes = answers.map((each) => (each.status === 200 ? '200' : codeOf(each)));
    expect(codes.filter((code) => code === '200')).toHaveLength(1);
    expect(codes.filter((code) => code === '409 already_cancelling')).toHaveLength(9);
    expect(provider.canceled).toEqual([subscription_id]);
  });

  it('returns canceled or expired for one that has already ended, without calling the provider', async () => {
    for (const status of ['canceled', 'expired'] as const) {
      await subscribe(status);
      expect((await cancel()).body).toEqual({ status });
    }
    expect(provider.calls).toEqual([]);
  });

  it('returns the provider’s status if it has ended there in the meantime', async () => {
    await subscribe();
    provider.subscriptions.set(subscription_id, 'canceled');
    expect((await cancel()).body).toEqual({ status: 'canceled' });
    expect(await statusNow()).toBe('canceled');
  });

  it('rejects a body with any field', async () => {
    await subscribe();
    for (const body of [{ mode: 'now' }, [], 'now', null]) {
      expect(codeOf(await cancel(body)), JSON.stringify(body)).toBe('400 invalid_request');
    }
    expect(provider.calls).toEqual([]);
  });

  it('returns 409 without a subscription at provider B, and 503 if provider B is not configured', async () => {
    expect(codeOf(await cancel())).toBe('409 no_subscription');
    await subscribe('active', 'a');
    expect(codeOf(await cancel())).toBe('409 use_billing_portal');
    await api.db.query(`update subscriptions set status = 'canceled'`);
    subscription_id += '_b';
    await subscribe();
    api.change({ providerB: undefined });
    expect(codeOf(await cancel())).toBe('503 billing_unavailable');
  });
});

describe('a provider message during or after a cancellation', () => {
  /** Sends an event in the provider's format, dated by the provider's clock, far behind ours. */
  const tell = async (eventType: string) => {
    const fields = { id: subscription_id, mode: 'test', status: 'active' };
    const whose = { customer: `cust_${subscription_id}`, metadata: { organization_id } };
    const object = { ...fields, ...whose, product: { id: 'prod_b' } };
    const created_at = new Date('2020-01-01T00:00:00Z').getTime();
    const sent = messageB({ id: newEventId(), eventType, created_at, object });
    return saidOf(await tellProvider(api.send, sent));
  };
  const planNow = async () => (await findOrganization(api.db, organization_id))?.plan;
  const toldMeanwhile = (work: () => Promise<unknown>) => {
    const cancel: ProviderB['cancel'] = async (asked) => {
      await work();
      return providerB.cancel(asked);
    };
    const products = { a: {}, b: { prod_b: 'builder' } };
    api.change({ providerB: { cancel }, products, providerBSecret: PROVIDER_B_SECRET });
  };

  it('is not overwritten if it changed the plan', async () => {
    await subscribe();
    toldMeanwhile(() => tell('subscription.update'));
    expect((await cancel()).body).toEqual({ status: 'scheduled_cancel' });
    expect(await findSubscription(api.db, { provider: 'b', subscription_id })).toMatchObject({
      plan: 'builder',
      status: 'scheduled_cancel',
    });
    expect(await planNow()).toBe('builder');
  });

  it('is not overwritten if it ended the subscription', async () => {
    await subscribe();
    toldMeanwhile(() => tell('subscription.canceled'));
    expect((await cancel()).body).toEqual({ status: 'scheduled_cancel' });
    expect([await statusNow(), await planNow()]).toEqual(['canceled', 'trial']);
  });

  it('is applied by its own timestamp, even if that is far behind the local clock', async () => {
    await subscribe();
    toldMeanwhile(async () => {});
    expect((await cancel()).body).toEqual({ status: 'scheduled_cancel' });
    expect(await tell('subscription.scheduled_cancel')).toBe('200 processed');
    expect([await statusNow(), await planNow()]).toEqual(['scheduled_cancel', 'builder']);
  });
});

describe('a cancellation claim that cannot be released', () => {
  it('is logged and does not hide the provider’s error', async () => {
    const db = throughDatabase(api.db, (to) => ({
      query: (text, values) => {
        if (text.includes('cancel_asked_at = null')) throw new Error('the database is away');
        return to.query(text, values);
      },
    }));
    api.change({ providerB, db });
    await subscribe();
    provider.behavior = 'failing';
    expect(codeOf(await cancel())).toBe('503 providerb_request_failed');
    expect(api.logged()).toContainEqual(
      expect.objectContaining({ level: 'warn', organization_id }),
    );
    await api.db.query('update subscriptions set cancel_asked_at = null');
    provider.behavior = 'well';
    expect((await cancel()).body).toEqual({ status: 'scheduled_cancel' });
  });
});

describe('a failing payment provider', () => {
  it('is reported with 503 providerb_request_failed, and can be called again', async () => {
    await subscribe();
    for (const behavior of ['failing', 'silent', 'talking nonsense'] as const) {
      provider.behavior = behavior;
      expect(codeOf(await cancel()), behavior).toBe('503 providerb_request_failed');
    }
    provider.subscriptions.delete(subscription_id);
    provider.behavior = 'well';
    expect(codeOf(await cancel())).toBe('503 providerb_request_failed');
    expect(await statusNow()).toBe('active');
    provider.subscriptions.set(subscription_id, 'active');
    expect((await cancel()).body).toEqual({ status: 'scheduled_cancel' });
  });

  it('cancels only once, with the same idempotency key, if its response was lost', async () => {
    await subscribe();
    provider.behavior = 'losing answers';
    expect(codeOf(await cancel())).toBe('503 providerb_request_failed');
    provider.behavior = 'well';
    expect((await cancel()).body).toEqual({ status: 'scheduled_cancel' });
    expect(provider.canceled).toEqual([subscription_id]);
    const keys = provider.calls.map((call) => call.split(' ')[2]);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toContain(subscription_id);
  });

  it('is reported with 503 if it redirects, and the key is not sent to the other address', async () => {
    await subscribe();
    provider.behavior = 'redirecting';
    expect(codeOf(await cancel())).toBe('503 providerb_request_failed');
    expect(provider.calls).toEqual([
      expect.stringMatching(/^POST \/v1\/subscriptions\/[^/]+\/cancel /),
    ]);
    expect(await statusNow()).toBe('active');
  });

  it('is reported with 503 if its response is too long', async () => {
    await subscribe();
    provider.behavior = 'talking too much';
    expect(codeOf(await cancel())).toBe('503 providerb_request_failed');
    expect(provider.canceled).toEqual([subscription_id]);
    expect(await statusNow()).toBe('active');
  });

  it('is not called for a while after five failures, then tried with a single request', async () => {
    await subscribe();
    provider.behavior = 'failing';
    for (let failure = 0; failure < 5; failure++) await cancel();
    expect(provider.calls).toHaveLength(5);
    expect(codeOf(await cancel())).toBe('503 billing_unavailable');
    expect(provider.calls).toHaveLength(5);
    clock.advance(31);
    expect(codeOf(await cancel())).toBe('503 providerb_request_failed');
    expect(codeOf(await cancel())).toBe('503 billing_unavailable');
    expect(provider.calls).toHaveLength(6);
    clock.advance(31);
    provider.behavior = 'well';
    expect((await cancel()).status).toBe(200);
  });
});
