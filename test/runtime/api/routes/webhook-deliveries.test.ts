// Spec: Endpoints, Webhooks; Webhook delivery attempt.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProjectRecord } from '../../../../runtime/core/resources/project.ts';
import {
  type WebhookDeliveryRecord,
  webhookDeliveryRecord,
} from '../../../../runtime/core/resources/webhook-delivery.ts';
import { codeOf, createProject, expectRecord, newSubject } from '../../../support/api-client.ts';
import { useApi } from '../../../support/api-server.ts';
import {
  type CallbackServer,
  startCallbackServer,
  status,
} from '../../../support/callback-server.ts';
import { makeDue, sendDue, setCallback, testSender } from '../../../support/webhooks.ts';

const api = useApi();
const owner = api.session(newSubject());
let endpoint: CallbackServer;
let project: ProjectRecord;
let path: string;

beforeAll(async () => {
  endpoint = await startCallbackServer();
});
afterAll(() => endpoint.close());
beforeEach(async () => {
  await api.db.query('delete from webhook_deliveries');
  project = await createProject(owner);
  path = `/v1/projects/${project.project_slug}`;
  endpoint.seen.length = 0;
  endpoint.answer(status(500, {}, 'closed'));
  const { project_id } = project;
  await setCallback(api.db, { project_id, url: endpoint.url, secret: 'whsec_1' });
});

const send = () => sendDue(testSender(api.db));

async function test(): Promise<WebhookDeliveryRecord> {
  const answer = await owner('POST', `${path}/webhook-test`);
  expect(answer.status, answer.text).toBe(200);
  expectRecord(webhookDeliveryRecord, answer.body);
  return answer.body;
}

async function list(query = ''): Promise<WebhookDeliveryRecord[]> {
  const answer = await owner('GET', `${path}/webhook-deliveries${query}`);
  expect(answer.status, answer.text).toBe(200);
  for (const item of answer.body.items) expectRecord(webhookDeliveryRecord, item);
  return answer.body.items;
}

async function only(): Promise<WebhookDeliveryRecord> {
  const [found, ...more] = await list();
  if (found === undefined || more.length > 0) throw new Error('expected one delivery');
  return found;
}

describe('a test webhook', () => {
  it('is sent like any other event', async () => {
    endpoint.answer(status(204));
    const { id, body } = await test();
    expect(id).toMatch(/^webhook\.test:tst_[0-9a-z]{26}$/);
    expect(await send()).toEqual(['delivered']);
    expect(endpoint.seen[0]?.body).toBe(body);
    expect(JSON.parse(body)).toMatchObject({ data: { project_id: project.project_id } });
  });

  it('has the creation time of its row, whatever the clock of the process', async () => {
    api.change({ clock: { now: () => new Date(Date.now() + 100_000) } });
    const { body, created_at } = await test();
    expect(JSON.parse(body).created_at).toBe(created_at);
    expect(Date.parse(created_at)).toBeLessThan(Date.now() + 50_000);
  });

  it('is recorded and sent with the id of the request that caused it', async () => {
    const { headers } = await owner('POST', `${path}/webhook-test`);
    const { request_id } = await only();
    expect(request_id).toBe(headers['x-request-id']);
    await send();
    await makeDue(api.db);
    await send();
    const ids = endpoint.seen.map(({ headers: sent }) => sent['x-request-id']);
    expect(ids).toEqual([request_id, request_id]);
  });

  it('needs a callback URL and an active project', async () => {
    await owner('PATCH', path, { callback_url: null });
    const answer = await owner('POST', `${path}/webhook-test`);
    expect(codeOf(answer)).toBe('400 invalid_request');
    expect(answer.body.error.details.issues).toEqual([
      { path: 'callback_url', message: 'the project has none; set one first' },
    ]);
    await owner('PATCH', path, { status: 'suspended' });
    expect(codeOf(await owner('POST', `${path}/webhook-test`))).toBe('403 project_suspended');
  });
});

describe('the delivery log', () => {
  it('shows what was sent, what came back and how long it took for every attempt', async () => {
    const { id } = await test();
    await send();
    await makeDue(api.db);
    endpoint.answer(status(200, {}, 'thanks'));
    await send();
    const found = await only();
    expect(found).toMatchObject({
      id,
      url: endpoint.url,
      status: 'delivered',
      next_attempt_at: null,
      last_status: 200,
      last_error: null,
      attempts: [
        {
          number: 1,
          asked_by: 'schedule',
          response_status: 500,
          response_excerpt: 'closed',
          error: 'answered 500: only 2xx acknowledges',
        },
        { number: 2, response_status: 200, response_excerpt: 'thanks', error: null },
      ],
    });
    for (const { duration_ms } of found.attempts) expect(duration_ms).toBeGreaterThanOrEqual(0);
    expect(found.body).toBe(endpoint.seen[0]?.body);
  });

  it('is filtered by event and status', async () => {
    await test();
    await send();
    const pending = await test();
    expect((await list('?status=pending')).map(({ id }) => id)).toEqual([pending.id]);
    expect(await list('?event=webhook.test')).toHaveLength(2);
    expect(await list('?event=upload.ready')).toEqual([]);
    for (const query of ['?event=no', '?status=sent']) {
      const answer = await owner('GET', `${path}/webhook-deliveries${query}`);
      expect(codeOf(answer)).toBe('400 invalid_request');
    }
  });
});

describe('redelivery', () => {
  const redeliver = (id: string) => owner('POST', `${path}/webhook-deliveries/${id}/redeliver`);

  async function abandon(): Promise<WebhookDeliveryRecord> {
    const delivery = await test();
    for (let attempt = 1; attempt <= 10; attempt++) {
      await send();
      await makeDue(api.db);
    }
    expect((await only()).status).toBe('abandoned');
    return delivery;
  }

  it('makes one attempt with the same id and body, in addition to the ten', async () => {
    const { id, body } = await abandon();
    expect((await redeliver(id)).body).toMatchObject({ id, status: 'abandoned' });
    expect(await send()).toEqual(['abandoned']);
    expect(await send()).toEqual([]);
    endpoint.answer(status(204));
    for (const _ of [1, 2]) await redeliver(id);
    expect(await send()).toEqual(['delivered']);
    expect(await send()).toEqual([]);
    const { attempts, status: state } = await only();
    expect(state).toBe('delivered');
    expect(attempts.map(({ asked_by }) => asked_by).slice(10)).toEqual(['person', 'person']);
    expect(endpoint.seen).toHaveLength(12);
    for (const seen of endpoint.seen) {
      expect(seen).toMatchObject({ body, headers: { 'x-service-delivery': id } });
    }
  });

  it('does not change the schedule unless it is delivered', async () => {
    const { id } = await test();
    await send();
    const before = await only();
    await redeliver(id);
    expect(await send()).toEqual(['failed']);
    const { status: state, next_attempt_at } = await only();
    expect({ state, next_attempt_at }).toEqual({
      state: 'retry scheduled',
      next_attempt_at: before.next_attempt_at,
    });
    endpoint.answer(status(204));
    await redeliver(id);
    await send();
    expect(await only()).toMatchObject({ status: 'delivered', next_attempt_at: null });
  });

  it('makes one more attempt, to the current URL, if it is requested again during an attempt', async () => {
    const { id } = await abandon();
    const { project_id } = project;
    const first = Promise.withResolvers<ServerResponse>();
    endpoint.answer((response) => first.resolve(response));
    await redeliver(id);
    const underWay = send();
    const held = await first.promise;
    await setCallback(api.db, { project_id, url: `${endpoint.url}/mended`, secret: 'whsec_1' });
    for (const _ of [1, 2]) {
      const { body } = await redeliver(id);
      expect(body.next_attempt_at).not.toBeNull();
    }
    expect(await send()).toEqual([]);
    endpoint.answer(status(204));
    held.writeHead(500).end();
    expect(await underWay).toEqual(['abandoned']);
    expect(await send()).toEqual(['delivered']);
    expect(await send()).toEqual([]);
    expect(endpoint.seen.slice(-2).map((seen) => seen.path)).toEqual(['/', '/mended']);
    expect(await only()).toMatchObject({ status: 'delivered', next_attempt_at: null });
  });

  it('goes to the current URL, and is not sent once the URL was removed', async () => {
    const { id } = await abandon();
    await setCallback(api.db, {
      project_id: project.project_id,
      url: `${endpoint.url}/new`,
      secret: 'whsec_1',
    });
    await redeliver(id);
    await send();
    expect(endpoint.seen.at(-1)?.path).toBe('/new');
    await redeliver(id);
    await owner('PATCH', path, { callback_url: null });
    expect(await send()).toEqual([]);
    expect(codeOf(await redeliver(id))).toBe('400 invalid_request');
    expect((await only()).status).toBe('abandoned');
  });

  it('is rejected with 403 project_suspended while the project is suspended, and sends nothing', async () => {
    const { id } = await abandon();
    const attempts = endpoint.seen.length;
    await owner('PATCH', path, { status: 'suspended' });
    expect(codeOf(await redeliver(id))).toBe('403 project_suspended');
    await send();
    expect(endpoint.seen.length).toBe(attempts);
  });

  it('returns 404 not_found for a delivery of another project', async () => {
    const { id } = await test();
    const stranger = api.session(newSubject());
    expect(codeOf(await stranger('POST', `${path}/webhook-deliveries/${id}/redeliver`))).toBe(
      '404 not_found',
    );
    const { project_slug, project_id } = await createProject(owner);
    await setCallback(api.db, { project_id, url: endpoint.url, secret: 'whsec_2' });
    const other = `/v1/projects/${project_slug}/webhook-deliveries`;
    expect(codeOf(await owner('POST', `${other}/${id}/redeliver`))).toBe('404 not_found');
    expect(codeOf(await redeliver('webhook.test:tst_none'))).toBe('404 not_found');
  });
});
