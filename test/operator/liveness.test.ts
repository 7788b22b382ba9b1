import { afterEach, describe, expect, it } from 'vitest';
import { openWatchCache, type WatchCache } from '../../operator/kube/watch-cache.ts';
import { findStuck, type Vitals } from '../../operator/liveness.ts';
import { startKubeFaultProxy } from '../support/kube-fault-proxy.ts';
import type { Identity, PlaneAddress } from '../support/kube-request.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { type ConfigMap, configMaps } from './kube/config-map.ts';
import { connectKube } from './kube/connect.ts';
import { createQuickClock } from './kube/quick-clock.ts';
import { silentLog as log } from './kube/silent-log.ts';

const shared = useControlPlane();
const MINUTE_MS = 60_000;
const well: Vitals = { caches: [], answering_ms: 0, longest_pass_ms: 0, overdue_ms: 0 };

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A moment in which the machine is busy elsewhere is seconds of a quick clock, and no silence of the API server. */
const ANSWER_MS_MAX = MINUTE_MS;

/** One cache of a process that asks for something else every two seconds, as a leader and a candidate do. */
function live(plane: PlaneAddress, { times, as }: { times: number; as?: Identity }) {
  const clock = createQuickClock(times);
  const { client, metrics } = connectKube(plane, { clock, ...(as && { as }) });
  const selection = { namespace: 'default' };
  const cache: WatchCache<ConfigMap> = openWatchCache({
    ...{ client, metrics, clock, log, type: configMaps, selection },
  });
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      await client.within(ANSWER_MS_MAX).get(configMaps, { name: 'any', namespace: 'default' });
      await new Promise<void>((resolve) => void clock.after(2_000, resolve));
    }
  })();
  stops.push(async () => {
    isOver = true;
    await Promise.all([asking, cache.stop()]);
    client.close();
  });
  const vitals = () => ({
    ...well,
    caches: [cache.health()],
    answering_ms: client.answering_ms(),
  });
  return { cache, vitals, clock };
}

describe('what only a new start mends', () => {
  it.each<[string, Partial<Vitals>, string | undefined]>([
    ['nothing', {}, undefined],
    ['a pass of 15 minutes', { longest_pass_ms: 15 * MINUTE_MS }, undefined],
    ['a longer one', { longest_pass_ms: 15 * MINUTE_MS + 1 }, 'a pass does not end'],
    [
      'a term that was over long ago',
      { overdue_ms: 15 * MINUTE_MS + 1 },
      'the work of a term that is over does not end',
    ],
    ['one that was over just now', { overdue_ms: 1 }, undefined],
  ])('%s', (_name, seen, stuck) => {
    expect(findStuck({ ...well, ...seen })).toBe(stuck);
  });

  it('is a watch that hears nothing while the API server answers everything else', async () => {
    const proxy = await startKubeFaultProxy(shared.plane());
    stops.push(() => proxy.close());
    const { cache, vitals } = live(proxy, { times: 200 });
    await cache.synced;
    const release = [proxy.hold('watch'), proxy.hold('list')];
    proxy.cutWatches('reset');
    await expect
      .poll(() => findStuck(vitals()), { timeout: 60_000 })
      .toBe('a watch hears nothing of an API server that answers');
    for (const each of release) each();
    await expect.poll(() => findStuck(vitals()), { timeout: 60_000 }).toBeUndefined();
  }, 180_000);

  it('is no API server that was away for long, nor its return', async () => {
    const { hostname: host, port, protocol } = new URL(shared.plane().url);
    const proxy = await startFaultProxy({ host, port: Number(port) });
    stops.push(() => proxy.close());
    const plane = { ...shared.plane(), url: `${protocol}//${host}:${proxy.port}` };
    const { cache, vitals, clock } = live(plane, { times: 60 });
    await cache.synced;
    const found = new Set<string | undefined>();
    const look = async (until: () => boolean) => {
      for (; !until(); await new Promise((resolve) => setTimeout(resolve, 20))) {
        found.add(findStuck(vitals()));
      }
    };
    proxy.set({ kind: 'refuse' });
    proxy.cut();
    await look(() => cache.health().unheard_ms > 35 * MINUTE_MS);
    proxy.set({ kind: 'none' });
    const back_at = clock.elapsed();
    await look(() => clock.elapsed() - back_at > 6 * MINUTE_MS);
    await expect.poll(() => cache.health().silent_ms, { timeout: 30_000 }).toBeLessThan(MINUTE_MS);
    expect([...found]).toEqual([undefined]);
  }, 180_000);

  it('is no permission that is missing', async () => {
    const { cache, vitals } = live(shared.plane(), { times: 200, as: 'stranger' });
    await expect
      .poll(() => cache.health().silent_ms, { timeout: 60_000 })
      .toBeGreaterThan(40 * MINUTE_MS);
    expect(vitals()).toMatchObject({ caches: [{ isSynced: false, isStale: true }] });
    await expect
      .poll(() => vitals().answering_ms, { timeout: 60_000 })
      .toBeGreaterThan(5 * MINUTE_MS);
    expect(findStuck(vitals())).toBeUndefined();
  }, 180_000);
});
