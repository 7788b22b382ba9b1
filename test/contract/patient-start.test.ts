// `tintype up` with a database that is unavailable at first, as on a machine where all services start together.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type FaultProxy, startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { makeFolder, removeFolder, spawnTintype, upArgs } from './support/tintype.ts';

let database: TestDatabase;
let proxy: FaultProxy;
let data: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { hostname, port } = new URL(database.url);
  proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  data = await makeFolder();
});
afterAll(async () => {
  await proxy?.close();
  await database?.drop();
  if (data) await removeFolder(data);
});

it('`tintype up` waits for a database that becomes unavailable right after the migration', async () => {
  proxy.set({ kind: 'refuse', after: 1 });
  const env = {
    TINTYPE_DATABASE_URL: Object.assign(new URL(database.url), { port: String(proxy.port) }).href,
  };
  const child = spawnTintype(upArgs(data), { env });
  const said: string[] = [];
  child.stderr.on('data', (chunk) => {
    said.push(String(chunk));
    if (String(chunk).includes('the process waits for it')) proxy.set({ kind: 'none' });
  });
  const instance = await new Promise<string>((ready, failed) => {
    child.stdout.once('data', (line) => ready(String(line)));
    child.once('exit', (code) => failed(new Error(`ended with ${code}: ${said.join('')}`)));
  });
  expect(JSON.parse(instance)).toMatchObject({ pid: child.pid, project_slug: 'demo' });
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});
