import { afterEach, describe, expect, it } from 'vitest';
import { openWatchCache, type WatchCache } from '../../operator/kube/watch-cache.ts';
import { findStuck, type LivenessInput } from '../../operator/liveness.ts';
import { MINUTE_MS } from '../../runtime/core/durations.ts';
import { type KubeFaultProxy, startKubeFaultProxy } from '../support/kube-fault-proxy.ts';
import type { Identity, PlaneAddress } from '../support/kube-request.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { type ConfigMap, configMaps } from './kube/config-map.ts';
import { connectKube } from './kube/connect.ts';
import { createPassingTime } from './kube/passing-time.ts';
import { silentLog as log } from './kube/silent-log.ts';

const shared = useControlPlane();
const well: LivenessInput = { caches: [], answering_ms: 0, longest_pass_ms: 0, overdue_ms: 0 };

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A call without retries: no time passes before it is answered. */
const ONCE_MS = 0;

/**
 * One cache in a process that also sends other requests repeatedly, as a leader and a candidate do.
 */
function live(plane: PlaneAddress, { proxy, as }: { proxy?: KubeFaultProxy; as?: Identity } = {}) {
  const ask = () => client.within(ONCE_MS).get(configMaps, { name: 'any', namespace: 'default' });
  const time = createPassingTime({ each: ask, ...(proxy && { kept: proxy.kept }) });
  const { clock } = time;
  const { client, metrics } = connectKube(plane, { clock, ...(as && { as }) });
  const selection = { namespace: 'default' };
  const cache: WatchCache<ConfigMap> = openWatchCache({
    ...{ client, metrics, clock, log, type: configMaps, selection },
  });
  stops.push(async () => {
    time.end();
    await cache.stop();
    client.close();
  });
  const vitals = () => ({
    ...well,
    caches: [cache.health()],
    answering_ms: client.answering_ms(),
  });
  return { cache, vitals, time };
}

describe('findStuck, which says what only a restart can fix', () => {
  it.each<[string, Partial<LivenessInput>, string | undefined]>([
    ['nothing unusual', {}, undefined],
    ['a pass of 15 minutes', { longest_pass_ms: 15 * MINUTE_MS }, undefined],
    [
      'a pass of more than 15 minutes',
      { longest_pass_ms: 15 * MINUTE_MS + 1 },
      'a pass does not end',
    ],
    [
      'a term that ended more than 15 minutes ago',
      { overdue_ms: 15 * MINUTE_MS + 1 },
      'the work of a term that has ended does not end',
    ],
    ['a term that has just ended', { overdue_ms: 1 }, undefined],
  ])('judges a process with %s', (_name, seen, stuck) => {
    expect(findStuck({ ...well, ...seen })).toBe(stuck);
  });

  it('reports a watch that hears nothing while the API server answers everything else', async () => {
    const proxy = await startKubeFaultProxy(shared.plane());
    stops.push(() => proxy.close());
    const { cache, vitals, time } = live(proxy, { proxy });
    await cache.synced;
    const release = [proxy.hold('watch'), proxy.hold('list')];
    proxy.cutWatches('reset');
    await time.passUntil(() => findStuck(vitals()) !== undefined);
    expect(findStuck(vitals())).toBe('a watch receives nothing, although the API server answers');
    for (const each of release) each();
    await time.passUntil(() => findStuck(vitals()) === undefined);
  });

  it('reports neither a long outage of the API server nor its return', async () => {
    const { hostname: host, port, protocol } = new URL(shared.plane().url);
    const proxy = await startFaultProxy({ host, port: Number(port) });
    stops.push(() => proxy.close());
    const plane = { ...shared.plane(), url: `${protocol}//${host}:${proxy.port}` };
    const { cache, vitals, time } = live(plane);
    await cache.synced;
    const found = new Set<string | undefined>();
    const lookUntil = (isSo: () => boolean) =>
      time.passUntil(() => {
        found.add(findStuck(vitals()));
        return isSo();
      });
    proxy.set({ kind: 'refuse' });
    proxy.cut();
    await lookUntil(() => cache.health().unheard_ms > 35 * MINUTE_MS);
    proxy.set({ kind: 'none' });
    const back_at = time.clock.elapsed();
    await lookUntil(() => time.clock.elapsed() - back_at > 6 * MINUTE_MS);
    await lookUntil(() => cache.health().silent_ms < MINUTE_MS);
    expect([...found]).toEqual([undefined]);
  });

  it('does not report a missing permission', async () => {
    const { vitals, time } = live(shared.plane(), { as: 'stranger' });
    await time.pass(40 * MINUTE_MS);
    expect(vitals()).toMatchObject({ caches: [{ isSynced: false, isStale: true }] });
    expect(vitals().answering_ms).toBeGreaterThan(5 * MINUTE_MS);
    expect(findStuck(vitals())).toBeUndefined();
  });
});
