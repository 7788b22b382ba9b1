import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemTimedClock } from '../../../operator/kube/timed-clock.ts';
import { openWatchCache } from '../../../operator/kube/watch-cache.ts';
import { type KubeFaultProxy, startKubeFaultProxy } from '../../support/kube-fault-proxy.ts';
import { kubeRequest } from '../../support/kube-request.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { configMaps } from './config-map.ts';
import { connectKube } from './connect.ts';
import { createManualTimedClock } from './manual-timed-clock.ts';
import { createQuickClock } from './quick-clock.ts';
import { silentLog } from './silent-log.ts';
import { configMapWorld, type Watched, watchConfigMaps } from './watched.ts';

const shared = useControlPlane();
let namespace: string;
let world: ReturnType<typeof configMapWorld>;
let watched: Watched | undefined;

beforeEach(async () => {
  namespace = await shared.namespace();
  world = configMapWorld(shared.plane(), namespace);
});
afterEach(async () => {
  await watched?.stop();
  watched = undefined;
});

const key = (name: string) => `${namespace}/${name}`;
const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `map-${from + index}`);

describe('a watch cache on a real API server', () => {
  const open = async () => {
    const connected = connectKube(shared.plane());
    const clock = systemTimedClock;
    watched = await watchConfigMaps({ ...connected, clock, plane: shared.plane(), namespace });
    return watched;
  };

  it('holds all objects from the start, without managed fields, and follows every change', async () => {
    await world.set('before', '1');
    const { cache, changes, agrees } = await open();
    expect(cache.get(key('before'))?.data).toEqual({ value: '1' });
    expect(cache.get(key('before'))?.metadata).not.toHaveProperty('managedFields');
    await world.set('after', '1');
    await world.set('before', '2');
    await world.remove('after');
    await agrees();
    await expect.poll(() => kindsOf(changes, key('after'))).toEqual(['added', 'deleted']);
    expect(kindsOf(changes, key('before'))).toEqual(['added', 'updated']);
    expect(cache.health()).toMatchObject({ isSynced: true, isStale: false });
  });

  it('lists more objects than fit on one page', async () => {
    const many = names(0, 520);
    for (let from = 0; from < many.length; from += 40) {
      await Promise.all(many.slice(from, from + 40).map((name) => world.set(name, '1')));
    }
    const { cache, changes, agrees } = await open();
    await agrees();
    expect(cache.health().objects).toBe(520);
    expect(new Set(changes.map((change) => change.key)).size).toBe(520);
  });

  it('tells a late subscriber what exists', async () => {
    await world.set('a', '1');
    const { cache } = await open();
    const seen: string[] = [];
    cache.subscribe((change) => seen.push(change.key));
    expect(seen).toContain(key('a'));
  });

  it('retries a handler that failed, and calls the others all the same', async () => {
    const { cache, changes } = await open();
    const taken: string[] = [];
    let failures = 0;
    cache.subscribe((change) => {
      failures += 1;
      if (failures <= 2) throw new Error('not now');
      taken.push(change.key);
    });
    await world.set('a', '1');
    await expect.poll(() => taken).toContain(key('a'));
    expect(changes.map((change) => change.key)).toContain(key('a'));
  });
});

describe('the health of a watch cache', () => {
  it('is stale after half an hour without a sign of the API server, and not before', async () => {
    const clock = createManualTimedClock();
    const nowhere = { ...shared.plane(), url: 'https://127.0.0.1:1' };
    const { client, metrics } = connectKube(nowhere, { clock });
    const cache = openWatchCache({ client, metrics, clock, type: configMaps, log: silentLog });
    clock.advance(30 * 60_000);
    expect(cache.health()).toMatchObject({ isSynced: false, isStale: false, objects: 0 });
    clock.advance(1);
    expect(cache.health().isStale).toBe(true);
    await cache.stop();
    client.close();
  });

  it('is measured over all open caches of a kind', async () => {
    await world.set('a', '1');
    const { client, metrics } = connectKube(shared.plane());
    const open = { client, metrics, clock: systemTimedClock, type: configMaps, log: silentLog };
    const fields = 'metadata.name=a';
    const all = [1, 2].map(() => openWatchCache({ ...open, selection: { namespace, fields } }));
    const printed = async () => {
      const samples = (await metrics.print()).matchAll(
        /^tintype_cache_(objects|last\w*){kind=\S+ (\S+)$/gm,
      );
      return Object.fromEntries([...samples].map(([, name, value]) => [name, Number(value)]));
    };
    await Promise.all(all.map(({ synced }) => synced));
    expect(await printed()).toEqual({ objects: 2, last_event_seconds: expect.any(Number) });
    await all[0]?.stop();
    expect(await printed()).toMatchObject({ objects: 1 });
    await all[1]?.stop();
    expect(await printed()).toEqual({});
    client.close();
  });

  it('includes the last change in the metrics, even if no other event follows', async () => {
    const { client, metrics } = connectKube(shared.plane());
    const clock = systemTimedClock;
    watched = await watchConfigMaps({
      ...{ client, metrics, clock, namespace },
      plane: shared.plane(),
    });
    const { cache } = watched;
    const counted = new Promise((resolve) => cache.subscribe(() => resolve(metrics.print())));
    await world.set('one', '1');
    expect(await counted).toMatch(/^tintype_cache_objects\{kind="ConfigMap"\} 1$/m);
  });

  it('is ensured by a full list every half hour, in case a change was lost', async () => {
    const proxy = await startKubeFaultProxy(shared.plane());
    const clock = createManualTimedClock();
    const plane = shared.plane();
    watched = await watchConfigMaps({ ...connectKube(proxy, { clock }), clock, plane, namespace });
    await expect.poll(() => proxy.watches()).toBe(1);
    clock.advance(31 * 60_000);
    const listed = () => {
      clock.advance(100);
      return lists(proxy).length;
    };
    await expect.poll(listed).toBe(2);
    await watched.stop();
    watched = undefined;
    await proxy.close();
  });
});

describe('a watch cache behind a faulty network', () => {
  let proxy: KubeFaultProxy;
  const open = async (times = 20) => {
    proxy = await startKubeFaultProxy(shared.plane());
    const clock = createQuickClock(times);
    const connected = connectKube(proxy, { clock });
    watched = await watchConfigMaps({ ...connected, clock, plane: shared.plane(), namespace });
    await expect.poll(() => proxy.watches()).toBe(1);
    return watched;
  };
  afterEach(async () => {
    await watched?.stop();
    watched = undefined;
    await proxy.close();
  });

  it('misses nothing when its connection is reset again and again', async () => {
    const { agrees, changes } = await open();
    for (const name of names(0, 12)) {
      await world.set(name, '1');
      proxy.cutWatches('reset');
    }
    await agrees();
    expect(new Set(changes.map((change) => change.key))).toEqual(new Set(names(0, 12).map(key)));
  });

  it('resumes without a new list when the server ends its watch', async () => {
    const { agrees } = await open();
    await world.set('a', '1');
    await agrees();
    proxy.cutWatches('end');
    await world.set('b', '1');
    await agrees();
    expect(lists(proxy)).toHaveLength(1);
  });

  it('notices a connection that fell silent', async () => {
    const { agrees } = await open();
    proxy.freeze();
    await world.set('a', '1');
    await agrees();
    expect(proxy.requests.filter(isWatch).length).toBeGreaterThan(1);
  });

  it.each(['reset', 'end'] as const)(
    'does not take half a line for an event, cut off by %s',
    async (how) => {
      const { agrees, changes } = await open();
      proxy.cutNextLine(how);
      await world.set('a', '1');
      await agrees();
      expect(kindsOf(changes, key('a'))).toEqual(['added']);
    },
  );

  it('reports every change once when the server replays events with older ones between', async () => {
    const { agrees, changes } = await open();
    proxy.lines('replayed');
    for (const value of ['1', '2', '3']) {
      for (const name of ['a', 'b']) await world.set(name, value);
    }
    await world.remove('a');
    await world.set('c', '1');
    await agrees();
    expect(kindsOf(changes, key('a'))).toEqual(['added', 'updated', 'updated', 'deleted']);
    expect(kindsOf(changes, key('b'))).toEqual(['added', 'updated', 'updated']);
  });

  it('ends in the true state when events arrive out of order', async () => {
    const { agrees, changes } = await open();
    proxy.lines('reordered');
    await Promise.all(
      names(0, 6).map(async (name) => {
        await world.set(name, '1');
        await world.remove(name);
        await world.set(name, '2');
      }),
    );
    await world.remove('map-0');
    await agrees();
    for (const name of names(0, 6)) expect(kindsOf(changes, key(name))).not.toEqual([]);
  });

  it('reports an object that was deleted and recreated in a gap as replaced', async () => {
    await world.set('a', '1');
    const { agrees, changes, cache } = await open();
    const old = cache.get(key('a'))?.metadata.uid;
    // The watch resumes with a list, which does not show the deletion.
    proxy.refuse({ times: 1, status: 410, body: { kind: 'Status', code: 410, reason: 'Expired' } });
    const release = proxy.hold('list');
    proxy.cutWatches('reset');
    await expect.poll(() => lists(proxy).length).toBe(2);
    await world.remove('a');
    await world.set('a', '1');
    release();
    await agrees();
    expect(changes.at(-1)).toMatchObject({
      kind: 'replaced',
      previous: { metadata: { uid: old } },
    });
  });

  it('reports an object that was deleted in a gap', async () => {
    await world.set('a', '1');
    const { agrees, changes } = await open();
    const release = proxy.hold('watch');
    proxy.cutWatches('reset');
    await world.remove('a');
    release();
    await agrees();
    expect(kindsOf(changes, key('a'))).toEqual(['added', 'deleted']);
  });

  it('waits as long as the server asks in a storm of 429 responses, and then goes on', async () => {
    const { agrees } = await open(50);
    const before = proxy.requests.length;
    proxy.refuse({ times: 25, status: 429, retry_after: 5 });
    proxy.cutWatches('reset');
    await world.set('a', '1');
    await agrees();
    expect(proxy.requests.length - before).toBeLessThanOrEqual(30);
  });

  it('recovers from errors in the stream, and from lines that are no events', async () => {
    const { agrees } = await open();
    for (const status of [500, 200, 403, 504]) {
      proxy.refuse({ times: 4, status, body: { type: 'ERROR', object: { code: 500 } } });
      proxy.cutWatches('reset');
      await world.set(`after-${status}`, '1');
      await agrees();
    }
  });

  it('lists without pages when the pages of its list expire', async () => {
    const { agrees } = await open();
    const expired = { status: 410, body: { kind: 'Status', code: 410, reason: 'Expired' } };
    proxy.refuse({ times: 2, ...expired });
    proxy.cutWatches('reset');
    await world.set('a', '1');
    await agrees();
    expect(lists(proxy).at(-1)?.path).toContain('limit=0');
  });

  it('sends no more requests once it is stopped', async () => {
    const { cache } = await open();
    await cache.stop();
    const { length } = proxy.requests;
    await world.set('a', '1');
    await kubeRequest(shared.plane(), { path: '/readyz' });
    expect(cache.get(key('a'))).toBeUndefined();
    expect(proxy.requests).toHaveLength(length);
    await expect.poll(() => proxy.watches()).toBe(0);
  });
});

function kindsOf(changes: readonly { kind: string; key: string }[], key: string): string[] {
  return changes.filter((change) => change.key === key).map(({ kind }) => kind);
}

function isWatch({ path }: { path: string }): boolean {
  return path.includes('watch=true');
}

function lists(proxy: KubeFaultProxy) {
  return proxy.requests.filter(({ path }) => path.includes('limit='));
}
