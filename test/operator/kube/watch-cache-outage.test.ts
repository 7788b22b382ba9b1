import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  type ControlPlane,
  compactEtcd,
  createNamespace,
  startControlPlane,
} from '../../support/control-plane.ts';
import { type KubeFaultProxy, startKubeFaultProxy } from '../../support/kube-fault-proxy.ts';
import { connectKube } from './connect.ts';
import { createQuickClock } from './quick-clock.ts';
import { configMapWorld, type Watched, watchConfigMaps } from './watched.ts';

let plane: ControlPlane;
let proxy: KubeFaultProxy;
let watched: Watched;
let namespace: string;
let world: ReturnType<typeof configMapWorld>;

beforeAll(async () => {
  plane = await startControlPlane({ components: [] });
}, 300_000);
afterAll(() => plane.stop());
afterEach(async () => {
  await watched.stop();
  await proxy.close();
});

async function open() {
  namespace = await createNamespace(plane);
  world = configMapWorld(plane, namespace);
  await world.set('before', '1');
  proxy = await startKubeFaultProxy(plane);
  const clock = createQuickClock(20);
  watched = await watchConfigMaps({ ...connectKube(proxy, { clock }), clock, plane, namespace });
}

it('a watch cache survives the loss of its API server, and reports how long it has heard nothing', async () => {
  await open();
  await plane.killApiServer();
  const { health } = watched.cache;
  await expect.poll(() => health().silent_ms).toBeGreaterThan(60_000);
  expect(health()).toMatchObject({ isSynced: true, isStale: false, objects: 1 });
  await plane.startApiServer();
  await world.set('after', '1');
  await watched.agrees();
  expect(health().silent_ms).toBeLessThan(60_000);
});

it('a watch cache lists again after its version was compacted, and reports only what changed', async () => {
  await open();
  await world.set('kept', '1');
  await watched.agrees();
  const release = proxy.hold('watch');
  proxy.cutWatches('reset');
  await world.set('before', '2');
  await world.set('new', '1');
  await plane.killApiServer();
  await plane.startApiServer();
  await compactEtcd(plane);
  watched.changes.length = 0;
  const asked = proxy.requests.length;
  release();
  await watched.agrees();
  const paths = proxy.requests.slice(asked).map(({ path }) => path);
  expect(paths.filter((path) => path.includes('limit='))).not.toEqual([]);
  const changed = watched.changes.map(({ kind, key }) => `${kind} ${key.split('/')[1]}`);
  expect(changed.sort()).toEqual(['added new', 'updated before']);
});
