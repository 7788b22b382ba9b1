import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKubeClient } from '../../../operator/kube/client.ts';
import { type Answer, type KubeFailure, unwrap } from '../../../operator/kube/kube-failure.ts';
import { openKubeconfig } from '../../../operator/kube/kubeconfig.ts';
import { createKubeMetrics } from '../../../operator/kube/metrics.ts';
import { type KubeObject, resourceType } from '../../../operator/kube/resource.ts';
import { systemTimedClock } from '../../../operator/kube/timed-clock.ts';
import { kubeconfig } from '../../support/control-plane.ts';
import { type KubeFaultProxy, startKubeFaultProxy } from '../../support/kube-fault-proxy.ts';
import { kubeOk } from '../../support/kube-request.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { configMaps } from './config-map.ts';
import { type Connected, connectKube } from './connect.ts';
import { createQuickClock } from './quick-clock.ts';

type Project = KubeObject & { spec: object; status?: { observedGeneration: number } };
const projects = resourceType<Project>({
  apiVersion: 'tintype.dev/v1alpha1',
  kind: 'Project',
  plural: 'projects',
});

const shared = useControlPlane();
let namespace: string;
let connected: Connected;

beforeEach(async () => {
  namespace = await shared.namespace();
  connected = connectKube(shared.plane());
});
afterEach(() => connected.client.close());

const at = (name: string) => ({ name, namespace });
const declared = (name: string, data: Record<string, string> = {}) => ({
  metadata: at(name),
  data,
});

describe('the client of the API server', () => {
  it('creates, reads, applies and deletes objects, and drops the managed fields', async () => {
    const { client } = connected;
    const created = unwrap(await client.create(configMaps, declared('a', { one: '1' })));
    expect(created.metadata).not.toHaveProperty('managedFields');
    const applied = unwrap(
      await client.apply(configMaps, declared('a', { two: '2' }), { owner: 'tintype/test' }),
    );
    expect(applied.data).toEqual({ one: '1', two: '2' });
    expect(unwrap(await client.get(configMaps, at('a')))).toEqual(applied);
    expect(await client.delete(configMaps, at('a'))).toEqual({ ok: true, value: undefined });
    expect(failureOf(await client.get(configMaps, at('a'))).reason).toBe('NotFound');
    expect((await client.delete(configMaps, at('a'))).ok).toBe(true);
  });

  it('removes fields that it no longer applies, and keeps those of others', async () => {
    const { client } = connected;
    await client.apply(configMaps, declared('a', { mine: '1', ours: '1' }), { owner: 'tintype/a' });
    await client.apply(configMaps, declared('a', { ours: '1', theirs: '1' }), { owner: 'other' });
    await client.apply(configMaps, declared('a'), { owner: 'tintype/a' });
    expect(unwrap(await client.get(configMaps, at('a'))).data).toEqual({ ours: '1', theirs: '1' });
  });

  it('refuses to take a field of another owner if told to', async () => {
    const { client } = connected;
    await client.apply(configMaps, declared('a', { field: '1' }), { owner: 'other' });
    const answer = await client.apply(configMaps, declared('a', { field: '2' }), {
      owner: 'tintype/a',
      conflicts: 'refuse',
    });
    expect(failureOf(answer).reason).toBe('Conflict');
    expect(unwrap(await client.get(configMaps, at('a'))).data).toEqual({ field: '1' });
  });

  it('writes only the status with applyStatus, and the same status again changes nothing', async () => {
    const { client } = connected;
    unwrap(await client.create(projects, { metadata: at('shop'), spec: {} }));
    const status = { metadata: at('shop'), status: { observedGeneration: 1 } };
    const first = unwrap(await client.applyStatus(projects, status, { owner: 'tintype/status' }));
    expect(first.status).toEqual({ observedGeneration: 1 });
    expect(first.metadata.generation).toBe(1);
    const second = unwrap(await client.applyStatus(projects, status, { owner: 'tintype/status' }));
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  it('replaces and merges only objects that nobody changed since they were read', async () => {
    const { client } = connected;
    const old = unwrap(await client.create(configMaps, declared('a')));
    const now = unwrap(
      await client.merge(configMaps, at('a'), {
        body: { metadata: { finalizers: ['tintype.dev/x'] } },
      }),
    );
    expect(now.metadata.finalizers).toEqual(['tintype.dev/x']);
    expect(failureOf(await client.replace(configMaps, { ...old, data: { x: '1' } })).reason).toBe(
      'Conflict',
    );
    const { resourceVersion } = old.metadata;
    const stale = { metadata: { resourceVersion, finalizers: null } };
    expect(failureOf(await client.merge(configMaps, at('a'), { body: stale })).reason).toBe(
      'Conflict',
    );
    unwrap(
      await client.replace(configMaps, { ...now, metadata: { ...now.metadata, finalizers: [] } }),
    );
  });

  it('deletes only the object with the given uid, not another of the same name', async () => {
    const { client } = connected;
    const { metadata } = unwrap(await client.create(configMaps, declared('a')));
    const another = '00000000-0000-4000-8000-000000000000';
    expect(failureOf(await client.delete(configMaps, at('a'), { uid: another })).reason).toBe(
      'Conflict',
    );
    expect((await client.delete(configMaps, at('a'), { uid: metadata.uid })).ok).toBe(true);
  });

  it('lists pages of one consistent state', async () => {
    const { client } = connected;
    for (const name of ['a', 'b', 'c']) unwrap(await client.create(configMaps, declared(name)));
    const first = unwrap(await client.listPage(configMaps, { namespace, limit: 2 }));
    unwrap(await client.create(configMaps, declared('aa')));
    const { token } = first;
    const second = unwrap(await client.listPage(configMaps, { namespace, limit: 2, token }));
    const names = [...first.items, ...second.items].map(({ metadata }) => metadata.name);
    expect(names.filter((name) => name !== 'kube-root-ca.crt')).toEqual(['a', 'b', 'c']);
    expect(second.resource_version).toBe(first.resource_version);
  });
});

describe('the failure of a call', () => {
  it('is a value that names the reason', async () => {
    const { client } = connected;
    const invalid = failureOf(await client.create(configMaps, declared('Not a name')));
    expect(invalid.reason).toBe('Invalid');
    expect(invalid.message).toContain('metadata.name');
    unwrap(await client.create(configMaps, declared('a')));
    expect(failureOf(await client.create(configMaps, declared('a'))).reason).toBe('AlreadyExists');
    const stranger = connectKube(shared.plane(), { as: 'stranger' }).client;
    expect(failureOf(await stranger.get(configMaps, at('a'))).reason).toBe('Forbidden');
    stranger.close();
    const foreign = { ...shared.plane(), tokens: { ...shared.plane().tokens, admin: 'wrong' } };
    const nobody = connectKube(foreign).client;
    expect(failureOf(await nobody.get(configMaps, at('a'))).reason).toBe('Unauthorized');
    nobody.close();
  });

  it('names a namespace that is terminating', async () => {
    const { client } = connected;
    const held = { ...declared('a'), metadata: { ...at('a'), finalizers: ['tintype.dev/held'] } };
    unwrap(await client.create(configMaps, held));
    await kubeOk(shared.plane(), { method: 'DELETE', path: `/api/v1/namespaces/${namespace}` });
    const refused = failureOf(await client.create(configMaps, declared('b')));
    expect(refused.reason).toBe('Forbidden');
    expect(refused.message).toContain('is being terminated');
    unwrap(await client.merge(configMaps, at('a'), { body: { metadata: { finalizers: null } } }));
  });

  it('is Unreachable if nobody listens', async () => {
    const nowhere = { ...shared.plane(), url: 'https://127.0.0.1:1' };
    const { client } = connectKube(nowhere, { deadline_ms: 500 });
    expect(failureOf(await client.get(configMaps, at('a'))).reason).toBe('Unreachable');
    client.close();
  });
});

describe('the client behind a faulty network', () => {
  let proxy: KubeFaultProxy;
  let behind: Connected;
  beforeEach(async () => {
    proxy = await startKubeFaultProxy(shared.plane());
    behind = connectKube(proxy, { clock: createQuickClock(20) });
  });
  afterEach(async () => {
    behind.client.close();
    await proxy.close();
  });

  it('waits as long as the server asks after 429, and then succeeds', async () => {
    const clock = createQuickClock(20);
    proxy.refuse({ times: 3, status: 429, retry_after: 2 });
    const began = clock.elapsed();
    unwrap(await behind.client.create(configMaps, declared('a')));
    expect(clock.elapsed() - began).toBeGreaterThanOrEqual(6000);
    expect(proxy.requests).toHaveLength(4);
  });

  it('gives up within its deadline, with the reason that the server gave', async () => {
    proxy.refuse({ times: 50, status: 429, retry_after: 12 });
    const answer = await behind.client.get(configMaps, at('a'));
    expect(failureOf(answer)).toMatchObject({ reason: 'TooManyRequests', retry_after_ms: 12_000 });
    expect(proxy.requests.length).toBeLessThanOrEqual(3);
  });

  it('retries reads that failed, but no write that may have happened', async () => {
    unwrap(await connected.client.create(configMaps, declared('a')));
    proxy.refuse({ times: 2, status: 500 });
    expect((await behind.client.get(configMaps, at('a'))).ok).toBe(true);
    proxy.requests.length = 0;
    proxy.refuse({ times: 1, status: 500 });
    expect(failureOf(await behind.client.create(configMaps, declared('b'))).reason).toBe(
      'Unavailable',
    );
    expect(proxy.requests).toHaveLength(1);
  });

  it('leaves silent connections, and answers over a new one', async () => {
    unwrap(await connected.client.create(configMaps, declared('a')));
    const read = () => behind.client.get(configMaps, at('a'));
    await Promise.all(Array.from({ length: 8 }, read));
    expect(proxy.connections()).toBeGreaterThan(2);
    proxy.freeze();
    expect((await behind.client.get(configMaps, at('a'))).ok).toBe(true);
  });

  it('reports a response that no API server would give as Malformed', async () => {
    proxy.refuse({ times: 1, status: 200, body: { hello: 'world' } });
    expect(failureOf(await behind.client.get(configMaps, at('a'))).reason).toBe('Malformed');
  });

  it('counts requests as client-go does', async () => {
    proxy.refuse({ times: 1, status: 429, retry_after: 1 });
    await behind.client.get(configMaps, at('nothing'));
    const host = new URL(proxy.url).host;
    const text = await behind.metrics.print();
    expect(text).toContain(`rest_client_requests_total{code="429",method="GET",host="${host}"} 1`);
    expect(text).toContain(`rest_client_requests_total{code="404",method="GET",host="${host}"} 1`);
  });

  it('uses one connection for many consecutive calls', async () => {
    for (let calls = 0; calls < 20; calls += 1) await behind.client.get(configMaps, at('nothing'));
    expect(proxy.requests).toHaveLength(20);
    expect(proxy.connections()).toBe(1);
  });
});

describe('the token of a pod', () => {
  it('is read again when the server refuses it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tintype-token-'));
    const tokenFile = join(folder, 'token');
    const config = JSON.parse(kubeconfig(shared.plane(), 'admin'));
    config.users[0].user = { 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
    await writeFile(join(folder, 'kubeconfig'), JSON.stringify(config));
    await writeFile(tokenFile, 'expired');
    const clock = systemTimedClock;
    const file = join(folder, 'kubeconfig');
    const credentials = openKubeconfig({ kind: 'file', file }, clock);
    const client = createKubeClient({ credentials, clock, metrics: createKubeMetrics() });
    const read = () => client.get(configMaps, at('kube-root-ca.crt'));
    expect(failureOf(await read()).reason).toBe('Unauthorized');
    await writeFile(tokenFile, shared.plane().tokens.admin);
    await expect.poll(async () => (await read()).ok).toBe(true);
    client.close();
    await rm(folder, { recursive: true });
  });
});

function failureOf(answer: Answer<unknown>): KubeFailure {
  if (answer.ok) throw new Error('it succeeded');
  return answer.failure;
}
