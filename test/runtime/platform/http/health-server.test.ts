// Whoever watches a process must not end it: what cannot be told is a 500, and the process goes on.
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type HealthServer,
  startHealthServer,
} from '../../../../runtime/platform/http/health-server.ts';
import { createLog } from '../../../../runtime/platform/log.ts';
import { createMetrics } from '../../../../runtime/platform/metrics.ts';
import { type Probes, StillStarting } from '../../../../runtime/platform/readiness.ts';

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

it('says in its log what it could not tell', async () => {
  const metrics = createMetrics();
  metrics.watch({
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

it('is alive until something stands still that only a new start mends', async () => {
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

it('tells of each check by itself, which does not fail for another, and of all while the process starts', async () => {
  let starting: Probes = {};
  const probes = { database: async () => 1, content: () => Promise.reject(new Error('away')) };
  server = await startHealthServer({
    ...{ port: 0, probes: () => probes, metrics: createMetrics(), log },
    starting: () => starting,
  });
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    const { checks } = (await response.json()) as { checks?: object };
    return [response.status, checks];
  };
  expect(await ask('/readyz')).toEqual([503, { database: true, content: false }]);
  expect(await ask('/readyz/database')).toEqual([200, { database: true }]);
  expect(await ask('/readyz/content')).toEqual([503, { content: false }]);
  for (const none of ['/readyz/', '/readyz/broker', '/readyz/database/', '/readyz/toString']) {
    expect([none, ...(await ask(none))]).toEqual([none, 404, undefined]);
  }
  starting = { start: () => Promise.reject(new StillStarting('the process still starts')) };
  expect(await ask('/readyz/database')).toEqual([503, { database: true, start: false }]);
});
