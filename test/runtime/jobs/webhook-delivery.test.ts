// Spec: Events, Delivery format, Signature rules; Webhook delivery attempt.
import Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyWebhook } from '../../../runtime/core/signing/webhook.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { claimWebhooks, listWebhookAttempts } from '../../../runtime/db/webhook-attempts.ts';
import { updateWebhookUrl } from '../../../runtime/db/webhook-deliveries.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { createLanes } from '../../../runtime/jobs/webhook-lanes.ts';
import { createWebhookSender, type WebhookSender } from '../../../runtime/jobs/webhook-sender.ts';
import { callbackSecretContext } from '../../../runtime/platform/sealing-contexts.ts';
import { type CallbackServer, startCallbackServer, status } from '../../support/callback-server.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs } from '../../support/jobs.ts';
import {
  deliveryRow,
  insertEvent,
  makeCallbackProject,
  makeDue,
  sealing,
  sendDue,
  setCallback,
  testSender,
  webhookDeps,
} from '../../support/webhooks.ts';

const { db } = useDatabase();
const SECRET = 'whsec_first';
let endpoint: CallbackServer;
let project: ProjectRow;
let sender: WebhookSender;

beforeAll(async () => {
  endpoint = await startCallbackServer();
});
afterAll(() => endpoint.close());
beforeEach(async () => {
  await db.query('delete from webhook_deliveries');
  endpoint.seen.length = 0;
  endpoint.answer(status(204));
  project = await makeCallbackProject(db, { url: `${endpoint.url}/hook`, secret: SECRET });
  sender = testSender(db);
});

const signatureOf = (index: number) => String(endpoint.seen[index]?.headers['x-service-signature']);

describe('a webhook delivery', () => {
  it('is one POST with the specified body and headers', async () => {
    const id = await insertEvent(db, project.project_id);
    expect(await sendDue(sender)).toEqual(['delivered']);
    const [seen] = endpoint.seen;
    const { body } = seen ?? { body: '' };
    expect(seen?.path).toBe('/hook');
    expect(seen?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'service-webhooks/2',
      'x-service-event': 'webhook.test',
      'x-service-delivery': id,
      'x-request-id': expect.stringMatching(/./),
    });
    expect(JSON.parse(body)).toMatchObject({ id, event: 'webhook.test' });
    expect(await deliveryRow(db, id)).toMatchObject({
      status: 'delivered',
      attempt: 1,
      is_leased: false,
    });
    expect(await sendDue(sender)).toEqual([]);
  });

  it('is accepted by our verifier and by that of Stripe', async () => {
    await insertEvent(db, project.project_id);
    await sendDue(sender);
    const { body = '' } = endpoint.seen[0] ?? {};
    const header = signatureOf(0);
    const now_seconds = Math.floor(Date.now() / 1000);
    expect(verifyWebhook({ secret: SECRET, header, body, now_seconds })).toMatchObject({
      valid: true,
    });
    const { webhooks } = new Stripe('sk_test_none');
    expect(webhooks.constructEvent(body, header, SECRET)).toMatchObject(JSON.parse(body));
    expect(() => webhooks.constructEvent(body, header, 'whsec_other')).toThrow(/signature/);
    expect(() => webhooks.constructEvent(`${body} `, header, SECRET)).toThrow(/signature/);
  });

  it('is signed with both secrets until the previous one ends, and then with one', async () => {
    const { project_id } = project;
    const previous = sealing.seal(Buffer.from(SECRET), callbackSecretContext(project_id));
    await setCallback(db, { project_id, url: `${endpoint.url}/hook`, secret: 'whsec_second' });
    const keepUntil = (until: string) =>
      db.query(
        `update projects set previous_callback_secret_sealed = $2,
           previous_callback_secret_until = now() + $3::interval where project_id = $1`,
        [project_id, previous, until],
      );
    await keepUntil('1 minute');
    await insertEvent(db, project_id);
    await sendDue(sender);
    const { webhooks } = new Stripe('sk_test_none');
    const { body = '' } = endpoint.seen[0] ?? {};
    expect(signatureOf(0)).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    for (const secret of [SECRET, 'whsec_second']) {
      expect(webhooks.constructEvent(body, signatureOf(0), secret)).toMatchObject({});
    }
    await keepUntil('-1 minute');
    await insertEvent(db, project_id);
    await sendDue(sender);
    expect(signatureOf(1)).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  it('is signed with every secret that has not ended, however often it was rotated', async () => {
    const { project_id } = project;
    await setCallback(db, { project_id, url: `${endpoint.url}/hook`, secret: 'whsec_newest' });
    for (const [secret, until] of [
      ['whsec_over', '-1 minute'],
      ['whsec_older', '1 minute'],
      ['whsec_old', '2 minutes'],
    ] as const) {
      const sealed = sealing.seal(Buffer.from(secret), callbackSecretContext(project_id));
      await db.query(
        `insert into older_callback_secrets (project_id, signs_until, secret_sealed)
         values ($1, now() + $2::interval, $3)`,
        [project_id, until, sealed],
      );
    }
    await insertEvent(db, project_id);
    await sendDue(sender);
    const { webhooks } = new Stripe('sk_test_none');
    const { body = '' } = endpoint.seen[0] ?? {};
    for (const secret of ['whsec_newest', 'whsec_old', 'whsec_older']) {
      expect(webhooks.constructEvent(body, signatureOf(0), secret)).toMatchObject({});
    }
    expect(() => webhooks.constructEvent(body, signatureOf(0), 'whsec_over')).toThrow(/signature/);
  });
});

describe('a callback host', () => {
  it('has no more concurrent calls than allowed, however many projects and spellings name it', async () => {
    const hosts = [
      'hook.example',
      'HOOK.example',
      'hook.example:443',
      'hook.example.',
      'b.example',
    ];
    for (let index = 0; index < 30; index++) {
      const url = `https://${hosts[index % 5]}/${index}`;
      const { project_id } = await makeCallbackProject(db, { url, secret: SECRET });
      await insertEvent(db, project_id);
    }
    const none_slow = { slow: [], slow_limit: 0 };
    const room = { limit: 100, rooms: new Map(), host_max: 4, ...none_slow, lease_seconds: 30 };
    const claimed = async (left: number) => {
      const host_rooms = new Map([['hook.example', left]]);
      const hosts = (await claimWebhooks(db, { ...room, host_rooms })).map(({ host }) => host);
      return hosts.toSorted();
    };
    const [ours, other] = ['hook.example', 'b.example'];
    expect(await claimed(3)).toEqual([...Array(4).fill(other), ...Array(3).fill(ours)]);
    expect(await claimed(0)).toEqual(Array(2).fill(other));
    expect(await claimed(9)).toEqual(Array(9).fill(ours));
  });
});

describe('slow endpoints', () => {
  it('take at most half of all places, however many of them are due', async () => {
    const lanes = createLanes({ total: 20, project: 4, host: 100, slow_ms: 1000 });
    for (let index = 0; index < 30; index++) {
      const url = `${endpoint.url}/${index}`;
      const { project_id } = await makeCallbackProject(db, { url, secret: SECRET });
      lanes.enter({ project_id, host: project_id })(9000);
      await insertEvent(db, project_id);
    }
    endpoint.answer(() => {});
    const crowded = createWebhookSender(webhookDeps(db), lanes);
    const slow = await crowded.begin();
    await insertEvent(db, project.project_id);
    const quick = await crowded.begin();
    await crowded.stop(0);
    expect([slow.length, quick.length]).toEqual([10, 1]);
  });
});

describe('a waiting webhook', () => {
  it('is canceled when the callback URL is removed', async () => {
    const { project_id } = project;
    endpoint.answer(status(500));
    const ids = [await insertEvent(db, project_id), await insertEvent(db, project_id)];
    await sendDue(sender);
    await db.transaction((tx) => updateWebhookUrl(tx, { project_id, url: null }));
    await makeDue(db);
    expect(await sendDue(sender)).toEqual([]);
    for (const id of ids) expect(await deliveryRow(db, id)).toMatchObject({ status: 'canceled' });
  });

  it('is canceled even while it is being sent, unless it is delivered', async () => {
    const { project_id } = project;
    for (const [answer, end] of [[500, 'canceled'] as const, [200, 'delivered'] as const]) {
      const id = await insertEvent(db, project_id);
      const { promise: arrived, resolve: arrive } = Promise.withResolvers<() => void>();
      endpoint.answer((response) => arrive(() => response.writeHead(answer).end()));
      const sending = sendDue(sender);
      const finish = await arrived;
      await db.transaction((tx) => updateWebhookUrl(tx, { project_id, url: null }));
      finish();
      await sending;
      const recorded = { status: end, delay: null, last_status: answer };
      expect(await deliveryRow(db, id)).toMatchObject(recorded);
    }
  });

  it('goes to the new URL after a change', async () => {
    const { project_id } = project;
    endpoint.answer(status(500));
    await insertEvent(db, project_id);
    await sendDue(sender);
    const url = `${endpoint.url}/new`;
    await db.transaction((tx) => updateWebhookUrl(tx, { project_id, url }));
    await makeDue(db);
    await sendDue(sender);
    expect(endpoint.seen.map(({ path }) => path)).toEqual(['/hook', '/new']);
  });

  it('is sent even while its project is suspended, as are new ones', async () => {
    const { project_id } = project;
    endpoint.answer(status(500));
    await insertEvent(db, project_id);
    await sendDue(sender);
    await db.query(
      `update projects set status = 'suspended', suspended_by = 'owner' where project_id = $1`,
      [project_id],
    );
    await makeDue(db);
    endpoint.answer(status(204));
    expect(await sendDue(sender)).toEqual(['delivered']);
    await insertEvent(db, project_id);
    expect(await sendDue(sender)).toEqual(['delivered']);
  });
});

describe('concurrent senders', () => {
  it('send nothing twice', async () => {
    for (let count = 0; count < 40; count++) await insertEvent(db, project.project_id);
    const senders = [sender, testSender(db), testSender(db)];
    for (let look = 0; look < 40; look++) await Promise.all(senders.map(sendDue));
    const ids = endpoint.seen.map(({ headers }) => headers['x-service-delivery']);
    expect(ids.length).toBe(40);
    expect(new Set(ids).size).toBe(40);
  });

  it('record an attempt once when one of them was away for longer than its lease', async () => {
    const id = await insertEvent(db, project.project_id);
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<() => void>();
    endpoint.answer((response) => arrive(() => response.writeHead(500).end()));
    const late = sendDue(sender);
    const finish = await arrived;
    await db.query(`update webhook_deliveries set lease_until = now() - interval '1 s'`);
    endpoint.answer(status(204));
    expect(await sendDue(testSender(db))).toEqual(['delivered']);
    finish();
    await late;
    expect(await deliveryRow(db, id)).toMatchObject({ status: 'delivered', attempt: 1 });
    expect(await listWebhookAttempts(db, [id])).toHaveLength(1);
  });
});

describe('the webhook-delivery job', () => {
  it('sends everything that is due, counts the outcomes, and requires TINTYPE_KEY_ENCRYPTION_KEYS', async () => {
    for (let count = 0; count < 30; count++) await insertEvent(db, project.project_id);
    const jobs = await makeJobs(db);
    try {
      const context = { ...jobs.deps, at: new Date(), run: '1', webhooks: sender };
      const { signal } = new AbortController();
      const counts = await table['webhook-delivery'].run({ ...context, signal });
      expect(counts).toEqual({ delivered: 30, failed: 0, abandoned: 0 });
      await expect(jobs.run(table['webhook-delivery'])).rejects.toThrow(
        'TINTYPE_KEY_ENCRYPTION_KEYS',
      );
    } finally {
      await jobs.close();
    }
  });
});
