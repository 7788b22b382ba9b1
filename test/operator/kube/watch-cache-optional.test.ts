import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type KubeObject, resourceType } from '../../../operator/kube/resource.ts';
import type { Change } from '../../../operator/kube/stored-objects.ts';
import { openWatchCache, type WatchCache } from '../../../operator/kube/watch-cache.ts';
import { type KubeFaultProxy, startKubeFaultProxy } from '../../support/kube-fault-proxy.ts';
import { kubeApply, kubeOk, kubeRequest } from '../../support/kube-request.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { connectKube } from './connect.ts';
import { createPassingTime, type PassingTime } from './passing-time.ts';
import { silentLog as log } from './silent-log.ts';

const shared = useControlPlane();
const { plane } = shared;
/** Longer than a cache may go without an answer before it counts as stale. */
const LONG_MS = 31 * 60_000;

let namespace: string;
let group: string;
let proxy: KubeFaultProxy;
let cache: WatchCache<KubeObject>;
let changes: Change<KubeObject>[];
let appearances: number;
let time: PassingTime;
let stop: () => Promise<void>;

beforeEach(async () => {
  namespace = await shared.namespace();
  group = `g${randomBytes(5).toString('hex')}.example`;
  proxy = await startKubeFaultProxy(plane());
});
afterEach(async () => {
  await stop();
  await proxy.close();
  await kubeRequest(plane(), { method: 'DELETE', path: definition() });
});

function open(presence: { presence?: 'optional' }): void {
  time = createPassingTime({ kept: proxy.kept });
  const { clock } = time;
  const { client, metrics } = connectKube(proxy, { clock });
  const names = { apiVersion: `${group}/v1`, kind: 'Thing', plural: 'things' };
  const type = resourceType({ ...names, ...presence });
  cache = openWatchCache({ client, metrics, clock, log, type, selection: { namespace } });
  changes = [];
  cache.subscribe((change) => changes.push(change));
  appearances = 0;
  cache.onPresence(() => {
    appearances += 1;
  });
  stop = async () => {
    time.end();
    await cache.stop();
    client.close();
  };
}

const definition = () => `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`;

async function install(): Promise<void> {
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const version = { name: 'v1', served: true, storage: true };
  await kubeApply(plane(), definition(), {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `things.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced' },
      names: { kind: 'Thing', plural: 'things', singular: 'thing' },
      versions: [{ ...version, schema: { openAPIV3Schema: schema } }],
    },
  });
  await expect.poll(set, { timeout: 30_000 }).toBeLessThan(300);
}

/** Waits until lists fail as well: for a moment after the deletion, they succeed and are empty. */
async function uninstall(): Promise<void> {
  const path = definition();
  await kubeOk(plane(), { method: 'DELETE', path });
  for (const gone of [path, `/apis/${group}/v1/namespaces/${namespace}/things`]) {
    const status = async () => (await kubeRequest(plane(), { path: gone })).status;
    await expect.poll(status, { timeout: 30_000 }).toBe(404);
  }
}

/** Writes one object, and returns the HTTP status. */
async function set(): Promise<number> {
  const answer = await kubeRequest(plane(), {
    method: 'PATCH',
    path: `/apis/${group}/v1/namespaces/${namespace}/things/one?fieldManager=test`,
    body: { apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: 'one' } },
    content_type: 'application/apply-patch+yaml',
  });
  return answer.status;
}

const held = () => [...cache.values()].map(({ metadata }) => metadata.name);
const untilHeld = (names: string[]) => time.passUntil(() => held().join() === names.join());
const kinds = () => changes.map(({ kind }) => kind);

it('a missing optional type counts as synced and empty until it is installed', async () => {
  open({ presence: 'optional' });
  await cache.synced;
  await time.pass(LONG_MS);
  expect(cache.health()).toMatchObject({ isSynced: true, isStale: false, objects: 0 });
  expect(appearances).toBe(0);
  await install();
  await untilHeld(['one']);
  expect(appearances).toBe(1);
}, 120_000);

it('an optional type that is uninstalled unseen loses its objects, and may be installed again', async () => {
  await install();
  open({ presence: 'optional' });
  await untilHeld(['one']);
  proxy.freeze();
  await uninstall();
  await untilHeld([]);
  await time.pass(LONG_MS);
  expect(cache.health()).toMatchObject({ isSynced: true, isStale: false, objects: 0 });
  await install();
  await untilHeld(['one']);
  expect(kinds()).toEqual(['added', 'deleted', 'added']);
  expect(appearances).toBe(2);
}, 120_000);

it('a missing type that is not optional keeps its objects and becomes stale', async () => {
  await install();
  open({});
  await untilHeld(['one']);
  proxy.freeze();
  // The objects of a definition are deleted before the definition, so a list at that moment is
  // empty.
  const letListsThrough = proxy.hold('list');
  await uninstall();
  letListsThrough();
  await time.pass(LONG_MS);
  expect(cache.health()).toMatchObject({ isStale: true, objects: 1 });
}, 120_000);
