// Spec: Webhook delivery attempt: how a process that sends them ends.
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWebhookLoop } from '../../../runtime/jobs/webhook-loop.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { type CallbackServer, startCallbackServer } from '../../support/callback-server.ts';
import { useDatabase } from '../../support/database.ts';
import {
  deliveryRow,
  insertEvent,
  makeCallbackProject,
  testSender,
} from '../../support/webhooks.ts';

const { db } = useDatabase();
const log = createLog({ level: 'silent', name: 'test' });
let endpoint: CallbackServer;

beforeAll(async () => {
  endpoint = await startCallbackServer();
});
afterAll(() => endpoint.close());

/** Of a loop whose one call waits for its answer. */
async function hold(options?: { grace_ms: number }) {
  const { project_id } = await makeCallbackProject(db, { url: endpoint.url, secret: 'whsec_test' });
  const id = await insertEvent(db, project_id);
  const held = new Promise<ServerResponse>((resolve) => endpoint.answer(resolve));
  const loop = startWebhookLoop({ sender: testSender(db), log }, options);
  return { id, loop, response: await held };
}

it('a call that is under way at the end of a process has a moment to be answered, and is delivered', async () => {
  const { id, loop, response } = await hold();
  const stopped = loop.stop();
  await sleep(100);
  response.writeHead(204).end();
  await stopped;
  expect(await deliveryRow(db, id)).toMatchObject({ status: 'delivered', attempt: 1 });
});

it('a call that is not answered in that moment is cut, and sent again by the next sender', async () => {
  const { id, loop } = await hold({ grace_ms: 50 });
  await loop.stop();
  expect(await deliveryRow(db, id)).toMatchObject({ status: 'pending' });
});
