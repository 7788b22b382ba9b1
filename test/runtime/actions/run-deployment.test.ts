// Probes and metrics of a process while it starts, with real servers.
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { runDeployment } from '../../../runtime/actions/run-deployment.ts';
import type { Lifecycle } from '../../../runtime/platform/lifecycle.ts';
import { type Servers, startServers } from '../../contract/support/servers.ts';
import { useDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';

const { url } = useDatabase();
let servers: Servers;
beforeAll(async () => {
  servers = await startServers();
});
afterAll(() => servers?.stop());
afterEach(() => {
  vi.unstubAllEnvs();
});

it('a process is ready only once its own start has finished, not as soon as its dependencies are ready', async () => {
  const begun = Promise.withResolvers<void>();
  const starting = Promise.withResolvers<Lifecycle>();
  const port = await freePort();
  const environment = await servers.environment();
  // The S3 client reads its credentials from the environment of the process.
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const ended = runDeployment({
    name: 'waiting',
    env: {
      ...environment,
      TINTYPE_DATABASE_URL: url(),
      TINTYPE_METRICS_PORT: String(port),
      TINTYPE_LOG_LEVEL: 'silent',
    },
    fields: [],
    // The longest timer, because the process of the tests must not exit.
    held_ms: 2 ** 31 - 1,
    start: async ({ lifecycle }) => {
      starting.resolve(lifecycle);
      await begun.promise;
      return {};
    },
  });
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  const ask = async (path: string) => {
    const answer = await get(path);
    return [answer.status, await answer.json()];
  };
  const lifecycle = await starting.promise;
  const usable = { database: true, ingest: true, content: true };
  expect(await ask('/readyz')).toEqual([
    503,
    { ready: false, checks: { ...usable, start: false } },
  ]);
  expect(await ask('/readyz?exclude=ingest&exclude=content')).toEqual([
    503,
    { ready: false, checks: { database: true, start: false } },
  ]);
  expect(await ask('/livez')).toEqual([200, { status: 'ok' }]);
  // Alerts on unusable dependencies read this metric.
  const measured = await (await get('/metrics')).text();
  expect(measured.match(/^tintype_dependency_ready.*$/gm)?.toSorted()).toEqual([
    'tintype_dependency_ready{dependency="broker"} 1',
    'tintype_dependency_ready{dependency="content"} 1',
    'tintype_dependency_ready{dependency="database"} 1',
    'tintype_dependency_ready{dependency="ingest"} 1',
  ]);
  begun.resolve();
  await expect.poll(() => ask('/readyz')).toEqual([200, { ready: true, checks: usable }]);
  await lifecycle.stop();
  await ended;
});
