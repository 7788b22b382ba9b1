/**
 * The effect of hanging endpoints on others: 1,000 projects with one endpoint each, of which 100 never respond. First
 * all projects have waiting events, then single events arrive at short intervals; compared with no hanging endpoints. A
 * delay is the time from the event's transaction to the request at the endpoint.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabase, type Database } from '../../runtime/db/client.ts';
import { insertWebhookDeliveries } from '../../runtime/db/webhook-deliveries.ts';
import { removeFolder, startTintype } from '../contract/support/tintype.ts';
import { insertEvent, makeCallbackProject, newDelivery } from '../support/webhooks.ts';
import { type Figure, figure, percentile } from './figure.ts';

const PROJECTS = 1_000;
const HANGING = 100;
const WAITING_EVENTS = 5;
const PACED_EVENTS = 1_000;
const PACE_MS = 10;
const DEADLINE_MS = 300_000;

type Seen = Map<string, number>;

export async function measureWebhooks(): Promise<Figure[]> {
  const none = await measure('none hangs', 0);
  const some = await measure(`${HANGING} of ${PROJECTS} hang`, HANGING);
  return [...none, ...some];
}

async function measure(name: string, hanging: number): Promise<Figure[]> {
  const seen: Seen = new Map();
  const endpoint = await startEndpoint(seen);
  // The key that test/support/webhooks.ts seals secrets with.
  const keys = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
  const env = { TINTYPE_CALLBACK_EGRESS: 'any', TINTYPE_KEY_ENCRYPTION_KEYS: keys };
  const tintype = await startTintype({ env });
  const db = createDatabase({ url: tintype.instance.database_url });
  try {
    const projects = await makeProjects(db, { endpoint, hanging });
    const took = await sendWaiting(db, { projects, seen });
    const delays = await sendPaced(db, { projects: projects.slice(hanging), seen });
    return [
      figure(`webhooks that wait, ${name}`, '/s', [
        ((PROJECTS - hanging) * WAITING_EVENTS * 1000) / took,
      ]),
      figure(`delay of a webhook, ${name}`, 'ms', delays),
      figure(`… p99`, 'ms', [percentile(delays, 0.99)]),
    ];
  } finally {
    await db.close();
    await tintype.end('SIGTERM');
    await removeFolder(tintype.data);
    endpoint.close();
    endpoint.closeAllConnections();
  }
}

async function startEndpoint(seen: Seen): Promise<Server> {
  const server = createServer((request, response) => {
    void buffer(request).then(() => {
      const id = String(request.headers['x-service-delivery']);
      if (!seen.has(id)) seen.set(id, Date.now());
      if (request.url !== '/hang') response.writeHead(204).end();
    });
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return server;
}

async function makeProjects(
  db: Database,
  { endpoint, hanging }: { endpoint: Server; hanging: number },
): Promise<string[]> {
  const { port } = endpoint.address() as AddressInfo;
  const ids = [];
  for (let n = 0; n < PROJECTS; n++) {
    const host = `127.1.${n >> 8}.${n & 255}`;
    const url = `http://${host}:${port}/${n < hanging ? 'hang' : 'hook'}`;
    ids.push((await makeCallbackProject(db, { url, secret: 'whsec_bench' })).project_id);
  }
  return ids;
}

type Sending = { projects: readonly string[]; seen: Seen };

/** Returns milliseconds from the commit of the events until all deliverable ones have arrived. */
async function sendWaiting(db: Database, { projects, seen }: Sending): Promise<number> {
  const rounds = Array.from({ length: WAITING_EVENTS }, () => projects.map(newDelivery));
  const deliveries = rounds.flat();
  await db.transaction((tx) => insertWebhookDeliveries(tx, deliveries));
  const began = Date.now();
  const hanging = new Set(
    (
      await db.query<{ delivery_id: string }>(
        `select delivery_id from webhook_deliveries where url like '%/hang'`,
      )
    ).map(({ delivery_id }) => delivery_id),
  );
  const ids = deliveries.map(({ delivery_id }) => delivery_id);
  const expected = ids.filter((id) => !hanging.has(id));
  await until(() => expected.every((id) => seen.has(id)));
  return Date.now() - began;
}

async function sendPaced(db: Database, { projects, seen }: Sending): Promise<number[]> {
  const made: { id: string; at: number }[] = [];
  for (let n = 0; n < PACED_EVENTS; n++) {
    const project = projects[Math.floor(Math.random() * projects.length)] ?? '';
    made.push({ id: await insertEvent(db, project), at: Date.now() });
    await sleep(PACE_MS);
  }
  await until(() => made.every(({ id }) => seen.has(id)));
  return made.map(({ id, at }) => (seen.get(id) ?? Number.NaN) - at);
}

async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + DEADLINE_MS;
  while (!isSo()) {
    if (Date.now() > end) throw new Error('not everything arrived in time');
    await sleep(20);
  }
}
