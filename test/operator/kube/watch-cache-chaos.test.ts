import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type KubeFaultProxy, startKubeFaultProxy } from '../../support/kube-fault-proxy.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { connectKube } from './connect.ts';
import { createQuickClock } from './quick-clock.ts';
import { configMapWorld, type Watched, watchConfigMaps } from './watched.ts';

/** Soak tests may raise it. */
const HISTORIES = Number(process.env.TINTYPE_KUBE_HISTORIES ?? 4);

const shared = useControlPlane();

type World = ReturnType<typeof configMapWorld>;
type Step = { kind: 'set' | 'remove' | 'again'; name: string } | { kind: keyof typeof faults };

const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
const faults = {
  reset: (proxy: KubeFaultProxy) => proxy.cutWatches('reset'),
  end: (proxy: KubeFaultProxy) => proxy.cutWatches('end'),
  half_line: (proxy: KubeFaultProxy) => proxy.cutNextLine('end'),
  freeze: (proxy: KubeFaultProxy) => proxy.freeze(),
  replays: (proxy: KubeFaultProxy) => proxy.lines('replayed'),
  truth: (proxy: KubeFaultProxy) => proxy.lines('none'),
  storm: (proxy: KubeFaultProxy) => proxy.refuse({ times: 3, status: 429, retry_after: 2 }),
  broken: (proxy: KubeFaultProxy) => proxy.refuse({ times: 3, status: 500 }),
  compacted: (proxy: KubeFaultProxy) => {
    proxy.refuse({ times: 1, status: 410, body: expired });
    proxy.cutWatches('reset');
  },
};

const steps = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('set' as const, 'remove' as const, 'again' as const),
        name: fc.constantFrom('a', 'b', 'c', 'd'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom(...(Object.keys(faults) as (keyof typeof faults)[])),
      }),
    },
  ),
  { minLength: 25, maxLength: 40 },
);

it('a watch cache and its handlers end in the true state, whatever faults happen on the way', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const namespace = await shared.namespace();
      const world = configMapWorld(shared.plane(), namespace);
      const proxy = await startKubeFaultProxy(shared.plane());
      const clock = createQuickClock(20);
      const plane = shared.plane();
      const watched = await watchConfigMaps({
        ...connectKube(proxy, { clock }),
        clock,
        plane,
        namespace,
      });
      try {
        for (const [index, step] of history.entries()) await perform({ world, proxy }, step, index);
        await watched.agrees();
        expect(believedBy(watched)).toEqual(
          [...watched.cache.values()]
            .map(({ metadata }) => `${metadata.name} ${metadata.uid}`)
            .sort(),
        );
      } finally {
        await watched.stop();
        await proxy.close();
      }
    }),
    { numRuns: HISTORIES, endOnFailure: true },
  );
}, 300_000);

async function perform(
  { world, proxy }: { world: World; proxy: KubeFaultProxy },
  step: Step,
  index: number,
): Promise<void> {
  if (!('name' in step)) {
    faults[step.kind](proxy);
    return;
  }
  if (step.kind !== 'set') await world.remove(step.name);
  if (step.kind !== 'remove') await world.set(step.name, String(index));
}

/** The objects that exist according to the changes that the handler received. */
function believedBy({ changes }: Watched): string[] {
  const believed = new Map<string, string>();
  for (const { key, object } of changes) {
    if (object === undefined) believed.delete(key);
    else believed.set(key, `${object.metadata.name} ${object.metadata.uid}`);
  }
  return [...believed.values()].sort();
}
