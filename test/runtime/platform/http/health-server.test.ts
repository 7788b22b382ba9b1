// Monitoring must not end a process: if a metric cannot be read, the response is 500 and the process continues.
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type HealthServer,
  startHealthServer,
} from '../../../../runtime/platform/http/health-server.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { createMetrics } from '../../../../runtime/platform/metrics.ts';
import { sayRaw, statusesIn } from '../../../support/raw-requests.ts';

const lines: string[] = [];
const log = createLog({
  level: 'error',
  name: 'test',
  destination: { write: (line) => lines.push(line) },
});
let server: HealthServer;
beforeEach(() => {
  lines.length = 0;
});
afterEach(() => server.stop());

it('/metrics answers 500 and logs the error if a value cannot be read, and /livez stays 200', async () => {
  const metrics = createMetrics();
  metrics.registerSources({
    pool: () => {
      throw new Error('the pool was closed');
    },
  });
  server = await startHealthServer({ port: 0, probes: () => ({}), metrics, log });
  const ask = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
  expect((await ask('/metrics')).status).toBe(500);
  expect(lines.map((line) => JSON.parse(line).error.message)).toEqual(['the pool was closed']);
  expect((await ask('/livez')).status).toBe(200);
});

it('every answer forbids caching and content sniffing', async () => {
  server = await startHealthServer({
    ...{ port: 0, probes: () => ({}), metrics: createMetrics(), log },
  });
  for (const path of ['/livez', '/readyz', '/metrics', '/nothing']) {
    const { headers } = await fetch(`http://127.0.0.1:${server.port}${path}`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

it.each([
  ['garbage', 400, 'what is this\r\n\r\n'],
  ['no Host', 200, 'GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n'],
  [
    'an unknown expectation',
    200,
    'GET /livez HTTP/1.1\r\nHost: a\r\nExpect: foo\r\nConnection: close\r\n\r\n',
  ],
  ['a head that is too large', 431, `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
])('the answer to %s is %i, with the headers of every answer', async (_what, status, text) => {
  server = await startHealthServer({
    ...{ port: 0, probes: () => ({}), metrics: createMetrics(), log },
  });
  const said = await sayRaw(server.port, text);
  expect(statusesIn(said)).toEqual([status]);
  expect(said).toContain('\r\ncache-control: no-store\r\n');
  expect(said).toContain('\r\nx-content-type-options: nosniff\r\n');
});

it('/livez answers 200 until the process is stuck, then 503 with the reason', async () => {
  let why: string | undefined;
  server = await startHealthServer({
    ...{ port: 0, probes: () => ({}), metrics: createMetrics(), log },
    findStuck: () => why,
  });
  const ask = async () => {
    const response = await fetch(`http://127.0.0.1:${server.port}/livez`);
    return [response.status, await response.json()];
  };
  expect(await ask()).toEqual([200, { status: 'ok' }]);
  why = 'a pass does not end';
  expect(await ask()).toEqual([503, { status: 'a pass does not end' }]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'not alive', reason: 'a pass does not end' },
  ]);
});

it('/readyz ignores the dependencies named in exclude', async () => {
  const probes = { database: async () => 1, content: () => Promise.reject(new Error('away')) };
  server = await startHealthServer({
    ...{ port: 0, probes: () => probes, metrics: createMetrics(), log },
  });
  const ask = async (query: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/readyz${query}`);
    const { checks } = (await response.json()) as { checks?: object };
    return [response.status, checks];
  };
  const both = { database: true, content: false };
  expect(await ask('')).toEqual([503, both]);
  expect(await ask('?exclude=ingest&exclude=content')).toEqual([200, { database: true }]);
  expect(await ask('?exclude=database')).toEqual([503, { content: false }]);
  for (const none of ['?verbose', '?exclude', '?exclude=broker', '?exclude=Content']) {
    expect([none, ...(await ask(none))]).toEqual([none, 503, both]);
  }
});
