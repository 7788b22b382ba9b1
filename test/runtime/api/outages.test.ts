// What the API answers while one of its dependencies is unavailable. Spec: Codes by status, 503; Infrastructure.
import { rename } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createDatabase, type Database } from '../../../runtime/db/client.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createIdentity } from '../../../runtime/platform/identity.ts';
import {
  type Caller,
  codeOf,
  createKey,
  createProject,
  expectRecord,
  newSubject,
} from '../../support/api-client.ts';
import { useApi } from '../../support/api-server.ts';
import { type FaultProxy, startFaultProxy } from '../../support/tcp-fault-proxy.ts';

const api = useApi();
const owner: Caller = api.session(newSubject());
let path: string;
let withKey: Caller;
let proxy: FaultProxy;
const opened: Database[] = [];

const readiness = z.strictObject({
  ready: z.boolean(),
  checks: z.strictObject({ database: z.boolean(), ingest: z.boolean(), content: z.boolean() }),
});

beforeAll(async () => {
  const { project_slug } = await createProject(owner);
  path = `/v1/projects/${project_slug}`;
  withKey = api.withKey(await createKey(owner, project_slug));
  proxy = await startFaultProxy({ port: Number(new URL(api.databaseUrl()).port) });
});
afterEach(() => proxy.set({ kind: 'none' }));
afterAll(async () => {
  await Promise.all(opened.map((db) => db.close()));
  await proxy.close();
});

/** Connects the API to the database through the proxy, with timeouts short enough for tests. */
function useProxiedDatabase(): void {
  const url = Object.assign(new URL(api.databaseUrl()), { port: String(proxy.port) }).href;
  const db = createDatabase({ url, queryTimeoutMs: 1500, connectTimeoutMs: 1500 });
  opened.push(db);
  api.change({ db });
}

describe('a database that refuses connections', () => {
  it('fails requests with 503 storage_unavailable, with the cause only in the log, until it is back', async () => {
    useProxiedDatabase();
    expect(codeOf(await withKey('GET', path))).toBe('200');
    proxy.set({ kind: 'refuse' });
    proxy.cut();
    for (const call of [
      withKey('GET', path),
      owner('GET', '/v1/projects'),
      owner('GET', '/v1/me'),
    ]) {
      const answer = await call;
      expect(codeOf(answer)).toBe('503 storage_unavailable');
      expect(answer.body.error.message).toMatch(/^The database or the storage is not reachable/);
      expect(answer.body.error.details).toBeUndefined();
      expect(answer.text).not.toMatch(/ECONN|127\.0\.0\.1|postgres/i);
    }
    const lines = api.logged().filter(({ msg }) => msg === 'request failed');
    expect(lines[0]).toMatchObject({ level: 'warn', code: 'storage_unavailable' });
    expect(JSON.stringify(lines)).toMatch(/ECONN|terminated/);
    expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
    proxy.set({ kind: 'none' });
    expect(codeOf(await withKey('GET', path))).toBe('200');
  });

  it('makes /readyz return 503 with the usual body, while /healthz stays 200', async () => {
    useProxiedDatabase();
    proxy.set({ kind: 'refuse' });
    const answer = await api.anonymous('GET', '/readyz');
    expect(answer.status).toBe(503);
    expectRecord(readiness, answer.body);
    expect(answer.body).toEqual({
      ready: false,
      checks: { database: false, ingest: true, content: true },
    });
    expect((await api.send({ method: 'HEAD', path: '/readyz' })).status).toBe(503);
    const health = await api.anonymous('GET', '/healthz');
    expect([health.status, health.body]).toEqual([200, { status: 'ok' }]);
  });
});

describe('a database that does not answer in time', () => {
  it('fails requests with 503 query_timeout while it is frozen', async () => {
    useProxiedDatabase();
    expect(codeOf(await withKey('GET', path))).toBe('200');
    proxy.set({ kind: 'stall' });
    expect(codeOf(await withKey('GET', path))).toBe('503 query_timeout');
    proxy.set({ kind: 'none' });
    expect(codeOf(await withKey('GET', path))).toBe('200');
  });

  it('fails a write with 503 query_timeout, without effect, while another transaction holds the lock', async () => {
    useProxiedDatabase();
    const rows = () => api.db.query('select version, name from projects');
    const before = await rows();
    await api.db.transaction(async (tx) => {
      await tx.query('select from projects for update');
      const answer = await owner('PATCH', path, { name: 'Too late' });
      expect(codeOf(answer)).toBe('503 query_timeout');
    });
    expect(await rows()).toEqual(before);
  });
});

describe('a list of files that takes too long', () => {
  it('fails with 503 query_timeout whatever the filter, and succeeds when the lock is released', async () => {
    useProxiedDatabase();
    const queries = ['', '?status=blocked', '?q=img-', '?library=default'];
    await api.db.transaction(async (tx) => {
      await tx.query('lock table files in access exclusive mode');
      const answers = await Promise.all(
        queries.map((query) => withKey('GET', `${path}/files${query}`)),
      );
      expect(answers.map(codeOf)).toEqual(queries.map(() => '503 query_timeout'));
    });
    expect(codeOf(await withKey('GET', `${path}/files?q=img-`))).toBe('200');
  });
});

describe('a missing ingest bucket', () => {
  it('makes complete return 503 storage_unavailable, and leaves the upload as it was', async () => {
    const body = { content_type: 'image/png', size_bytes: 10 };
    const { upload_id } = (await withKey('POST', `${path}/uploads`, body)).body;
    await rename(api.ingestFolder(), `${api.ingestFolder()}-gone`);
    try {
      const answer = await withKey('POST', `${path}/uploads/${upload_id}/complete`);
      expect(codeOf(answer)).toBe('503 storage_unavailable');
      expect(answer.text).not.toContain(api.ingestFolder());
      const ready = await api.anonymous('GET', '/readyz');
      expect([ready.status, ready.body]).toEqual([
        503,
        { ready: false, checks: { database: true, ingest: false, content: true } },
      ]);
    } finally {
      await rename(`${api.ingestFolder()}-gone`, api.ingestFolder());
    }
    const { body: upload } = await withKey('GET', `${path}/uploads/${upload_id}`);
    expect(upload.status).toBe('created');
    const again = await withKey('POST', `${path}/uploads/${upload_id}/complete`);
    expect(codeOf(again)).toBe('409 ingest_object_missing');
  });
});

describe('an identity key set that cannot be fetched', () => {
  it('fails sessions with 503 auth_unavailable, while API keys still work', async () => {
    const [issuer, jwksUrl] = ['http://127.0.0.1:1/identity', 'http://127.0.0.1:1/jwks.json'];
    api.change({ identity: createIdentity({ issuer, jwksUrl, clock: systemClock }) });
    expect(codeOf(await owner('GET', '/v1/me'))).toBe('503 auth_unavailable');
    expect(codeOf(await withKey('GET', path))).toBe('200');
  });
});

describe('without an outage', () => {
  it('/readyz returns 200 with the same body shape', async () => {
    const answer = await api.anonymous('GET', '/readyz');
    expect(answer.status).toBe(200);
    expectRecord(readiness, answer.body);
    expect(answer.body).toEqual({
      ready: true,
      checks: { database: true, ingest: true, content: true },
    });
  });
});
