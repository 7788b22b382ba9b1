// Spec: Webhook delivery attempt: shutdown of a process that sends them.
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runJob } from '../../../runtime/jobs/run-job.ts';
import { jobs } from '../../../runtime/jobs/table.ts';
import { startWebhookLoop } from '../../../runtime/jobs/webhook-loop.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { spawnTintype } from '../../contract/support/tintype.ts';
import { type CallbackServer, startCallbackServer } from '../../support/callback-server.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs } from '../../support/jobs.ts';
import {
  deliveryRow,
  insertEvent,
  makeCallbackProject,
  testSender,
} from '../../support/webhooks.ts';

const { db, url } = useDatabase();
const log = createLog({ level: 'silent', name: 'test' });
let endpoint: CallbackServer;

beforeAll(async () => {
  endpoint = await startCallbackServer();
});
afterAll(() => endpoint.close());
beforeEach(() => db.query('delete from webhook_deliveries'));

/** A due event; its endpoint responds only when the test does so through `held`. */
async function makeHeld() {
  const { project_id } = await makeCallbackProject(db, { url: endpoint.url, secret: 'whsec_test' });
  const id = await insertEvent(db, project_id);
  const held = new Promise<ServerResponse>((resolve) => endpoint.answer(resolve));
  return { id, held };
}

/** Starts a loop with one call that waits for its response. */
async function hold(options?: { grace_ms: number }) {
  const { id, held } = await makeHeld();
  const loop = startWebhookLoop({ sender: testSender(db), log }, options);
  return { id, loop, response: await held };
}

it('a webhook call in progress when the process stops may still be answered, and is delivered', async () => {
  const { id, loop, response } = await hold();
  const stopped = loop.stop();
  await sleep(100);
  response.writeHead(204).end();
  await stopped;
  expect(await deliveryRow(db, id)).toMatchObject({ status: 'delivered', attempt: 1 });
});

it('a webhook call that is not answered within the grace period is cut off and stays pending', async () => {
  const { id, loop } = await hold({ grace_ms: 50 });
  await loop.stop();
  expect(await deliveryRow(db, id)).toMatchObject({ status: 'pending' });
});

it('a webhook call of the job has the same grace period, and none is begun after it', async () => {
  const { id, held } = await makeHeld();
  const { deps, close } = await makeJobs(db);
  const webhooks = testSender(db);
  const ending = new AbortController();
  const job = jobs['webhook-delivery'];
  const run = { name: 'webhook-delivery', job, at: new Date(), signal: ending.signal };
  const running = runJob({ ...deps, webhooks }, run);
  const response = await held;
  const loop = startWebhookLoop({ sender: webhooks, log });
  ending.abort(new Error('the process ends'));
  const stopped = loop.stop();
  await sleep(100);
  response.writeHead(204).end();
  await Promise.all([stopped, running]);
  expect(await deliveryRow(db, id)).toMatchObject({ status: 'delivered', attempt: 1 });
  await makeHeld();
  expect(await webhooks.begin()).toEqual([]);
  await close();
});

it('a webhook call of tintype job has the same grace period', async () => {
  const { id, held } = await makeHeld();
  const env = {
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_S3_ENDPOINT: 'http://127.0.0.1:1',
    TINTYPE_AMQP_URL: 'amqp://127.0.0.1:1',
    TINTYPE_CALLBACK_EGRESS: 'any',
    TINTYPE_KEY_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  };
  const child = spawnTintype(['job', 'webhook-delivery', '--data', '/nowhere'], { env });
  const ended = once(child, 'close');
  const response = await held;
  child.kill('SIGTERM');
  await sleep(300);
  response.writeHead(204).end();
  await ended;
  expect(await deliveryRow(db, id)).toMatchObject({ status: 'delivered', attempt: 1 });
}, 60_000);
