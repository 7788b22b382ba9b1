// Spec: Webhook delivery attempt: how many concurrent calls a sender with default limits makes to an endpoint.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLanes } from '../../../runtime/jobs/webhook-lanes.ts';
import { type CallbackServer, startCallbackServer, status } from '../../support/callback-server.ts';
import { useDatabase } from '../../support/database.ts';
import { insertEvent, makeCallbackProject, sendDue, testSender } from '../../support/webhooks.ts';

const { db } = useDatabase();
let endpoint: CallbackServer;

beforeAll(async () => {
  endpoint = await startCallbackServer();
});
afterAll(() => endpoint.close());

it('an endpoint that answers quickly has at most sixteen concurrent calls, however many are waiting', async () => {
  const { project_id } = await makeCallbackProject(db, { url: endpoint.url, secret: 'whsec_test' });
  for (let count = 0; count < 80; count++) await insertEvent(db, project_id);
  // No answer counts as slow, however slow the machine is.
  const sender = testSender(db, {}, createLanes({ slow_ms: Number.POSITIVE_INFINITY }));
  endpoint.answer(status(204));
  // Each quick answer doubles the allowed concurrency, so five rounds reach the maximum.
  for (let round = 0; round < 5; round++) await sendDue(sender);
  endpoint.answer(() => {});
  const hanging = await sender.begin();
  const more = await sender.begin();
  await sender.stop(0);
  expect([hanging.length, more.length]).toEqual([16, 0]);
});
