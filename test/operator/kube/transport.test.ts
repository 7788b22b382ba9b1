import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Credentials } from '../../../operator/kube/credentials.ts';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { systemTimedClock as clock } from '../../../operator/kube/timed-clock.ts';
import { createTransport } from '../../../operator/kube/transport.ts';

let streams = 0;
const server = createServer(({ url = '' }, response) => {
  if (url.startsWith('/silent')) return;
  if (!url.startsWith('/watch')) return void response.end('{}');
  streams += 1;
  response.writeHead(200).write('\n');
});
let credentials: Credentials;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  credentials = {
    server: new URL(`http://127.0.0.1:${port}`),
    options: async () => ({}),
    forget: () => undefined,
  };
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

it('the transport has a connection for a call however many watches are open', async () => {
  const transport = createTransport({ credentials, clock, metrics: createKubeMetrics() });
  const opened = Array.from({ length: 200 }, (_, at) =>
    transport.open({ method: 'GET', path: `/watch/${at}`, deadline_ms: 50_000 }),
  );
  for (const answer of await Promise.all(opened)) expect(answer.ok).toBe(true);
  expect(streams).toBe(200);
  const answer = await transport.send({ method: 'PUT', path: '/lease', deadline_ms: 20_000 });
  expect(answer).toMatchObject({ ok: true, value: { status: 200 } });
  transport.close();
});

it('the transport counts a call that timed out once', async () => {
  const metrics = createKubeMetrics();
  const transport = createTransport({ credentials, clock, metrics });
  const silent = { method: 'GET', path: '/silent', deadline_ms: 100 } as const;
  expect(await transport.send(silent)).toMatchObject({ failure: { reason: 'Timeout' } });
  await transport.send({ method: 'GET', path: '/after', deadline_ms: 20_000 });
  const counted = (await metrics.print()).match(/^rest_client_requests_total\{.*<error>.*$/gm);
  expect(counted).toEqual([expect.stringMatching(/ 1$/)]);
  transport.close();
});
