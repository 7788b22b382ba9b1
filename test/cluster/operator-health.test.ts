import { afterEach, expect, it } from 'vitest';
import { type Permission, permissions } from '../../operator/permissions.ts';
import { useDatabase } from '../support/database.ts';
import { kubeOk } from '../support/kube-request.ts';
import {
  type OperatorProcess,
  permitOperator,
  startOperator,
} from '../support/operator-process.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { until } from '../support/until.ts';

const { url } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;
const keys = newSealingKey();

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function through(target: string) {
  const { hostname: host, port } = new URL(target);
  const proxy = await startFaultProxy({ host, port: Number(port) });
  stops.push(() => proxy.close());
  return { proxy, url: Object.assign(new URL(target), { port: String(proxy.port) }).href };
}

async function start(
  namespace: string,
  places: { api: string; database: string },
  watched: readonly string[] = [namespace],
) {
  const operator = await startOperator(
    { ...plane(), url: places.api.replace(/\/$/, '') },
    {
      ...{ POD_NAMESPACE: namespace, TINTYPE_WATCH_NAMESPACES: watched.join() },
      ...{ TINTYPE_DATABASE_URL: places.database, TINTYPE_KEY_ENCRYPTION_KEYS: keys },
    },
  );
  stops.push(operator.stop);
  return operator;
}

async function ask({ watched }: OperatorProcess, path: string) {
  const response = await fetch(`${watched}${path}`);
  return { status: response.status, ...((await response.json()) as object) };
}

const ready = { ready: true, checks: { database: true, cluster: true } };

it('the operator stays alive without database and API server, and is ready again when they are back', async () => {
  const namespace = await cluster.namespace();
  await permitOperator(plane(), namespace, Object.values(permissions).flat());
  const [api, database] = [await through(plane().url), await through(url())];
  const operator = await start(namespace, { api: api.url, database: database.url });
  await until(async () => expect(await ask(operator, '/readyz')).toMatchObject(ready));
  for (const { proxy } of [api, database]) {
    proxy.set({ kind: 'refuse' });
    proxy.cut();
  }
  await until(async () => {
    expect(await ask(operator, '/readyz')).toMatchObject({ ready: false });
  });
  expect(await ask(operator, '/livez')).toEqual({ status: 'ok' });
  for (const { proxy } of [api, database]) proxy.set({ kind: 'none' });
  await until(async () => expect(await ask(operator, '/readyz')).toMatchObject(ready));
}, 180_000);

it('a leader is not ready while it may not watch the objects of ImageServices', async () => {
  const namespace = await cluster.namespace();
  const { runtime, ...others } = permissions;
  await permitOperator(plane(), namespace, Object.values(others).flat());
  const operator = await start(namespace, { api: plane().url, database: url() });
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/tintype-operator`;
  await until(() => kubeOk(plane(), { path: lease }));
  await until(async () => {
    const checks = { database: true, cluster: false };
    expect(await ask(operator, '/readyz')).toMatchObject({ ready: false, checks });
  });
  await permitOperator(plane(), namespace, [...Object.values(others).flat(), ...runtime]);
  await until(async () => expect(await ask(operator, '/readyz')).toMatchObject(ready));
}, 180_000);

it('a leader is not ready while it may not watch ImageServices in one of its namespaces', async () => {
  const [namespace, other] = [await cluster.namespace(), await cluster.namespace()];
  const all = Object.values(permissions).flat();
  await permitOperator(plane(), namespace, all);
  const isOfOthers = ({ resources }: Permission) => !resources.includes('imageservices');
  await permitOperator(plane(), other, all.filter(isOfOthers));
  const places = { api: plane().url, database: url() };
  const operator = await start(namespace, places, [namespace, other]);
  const refused = () =>
    operator.said.filter(({ kind, reason }) => kind === 'ImageService' && reason === 'Forbidden');
  // By then, everything else has been listed.
  await until(async () => expect(refused().length).toBeGreaterThan(4));
  const checks = { database: true, cluster: false };
  expect(await ask(operator, '/readyz')).toMatchObject({ ready: false, checks });
  await permitOperator(plane(), other, all);
  await until(async () => expect(await ask(operator, '/readyz')).toMatchObject(ready));
}, 180_000);
