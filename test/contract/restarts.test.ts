// APIs that stop while their clients are busy: every accepted request gets its response, and behind a load balancer a
// rolling restart goes unnoticed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BusyClients, startBusyClients } from './support/busy-clients.ts';
import {
  type DeployedProcess,
  type Deployment,
  startDeployment,
  startProcess,
} from './support/deployment.ts';
import { startRoundRobin } from './support/round-robin.ts';

const CLIENTS = 50;

let deployment: Deployment;
let key: string;

beforeAll(async () => {
  deployment = await startDeployment((usual) => ({ ...usual, TINTYPE_RATE_WRITES: '1000000' }));
  const alice = await deployment.session('alice');
  await alice('POST', '/v1/projects', { project_slug: 'shop' });
  key = (await alice('POST', '/v1/projects/shop/keys', { name: 'server' })).body.plaintext_secret;
});

afterAll(() => deployment?.stop());

const upload = JSON.stringify({ content_type: 'image/png', size_bytes: 1 });
/** Every fifth request is a write, which HTTP clients do not retry automatically. */
const next = (nth: number) =>
  nth % 5 === 0
    ? { method: 'POST', path: '/v1/projects/shop/uploads', body: upload }
    : { method: 'GET', path: '/v1/projects/shop' };

const busy = (url: string) =>
  startBusyClients({ url, clients: CLIENTS, headers: { 'x-api-key': key }, next });

/** Waits until the clients have got this many more responses. */
async function untilAnswered(clients: BusyClients, more: number): Promise<void> {
  const enough = clients.count() + more;
  await expect.poll(() => clients.count(), { timeout: 60_000 }).toBeGreaterThan(enough);
}

const another = () => startProcess('api', deployment.env);

describe('an API process that stops', { timeout: 300_000 }, () => {
  it('answers every accepted request, without broken connections or 5xx responses', async () => {
    const api = await another();
    const clients = busy(`http://127.0.0.1:${api.port}`);
    await untilAnswered(clients, 300);
    const code = api.end('SIGTERM');
    await clients.ended;
    expect(await code).toBe(0);
    // After the API has stopped, each client's next request is refused, so no response was lost.
    expect([...clients.seen.keys()].toSorted()).toEqual(['200', '201', 'ECONNREFUSED']);
    expect(clients.seen.get('ECONNREFUSED')).toBe(CLIENTS);
  });
});

describe('two API processes behind a load balancer', { timeout: 300_000 }, () => {
  it('are replaced one after the other without a failed request', async () => {
    const old = [await another(), await another()];
    const balancer = await startRoundRobin(old.map(({ port = 0 }) => port));
    const clients = busy(balancer.url);
    const fresh: DeployedProcess[] = [];
    for (const api of old) {
      await untilAnswered(clients, 200);
      const replacement = await another();
      fresh.push(replacement);
      balancer.ports.add(replacement.port ?? 0);
      expect(await api.end('SIGTERM')).toBe(0);
      balancer.ports.delete(api.port ?? 0);
    }
    await untilAnswered(clients, 200);
    clients.stop();
    await clients.ended;
    await Promise.all(fresh.map((api) => api.end('SIGTERM')));
    await balancer.close();
    expect([[...clients.seen.keys()].toSorted(), balancer.failures]).toEqual([['200', '201'], []]);
  });
});
