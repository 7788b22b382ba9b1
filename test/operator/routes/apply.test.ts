// Spec: Project (custom_domains).
import { expect, it } from 'vitest';
import { createWriteHistory } from '../../../operator/installation/write-history.ts';
import type { DeleteOptions, KubeClient } from '../../../operator/kube/client.ts';
import { KubeFailure } from '../../../operator/kube/kube-failure.ts';
import type { KubeObject } from '../../../operator/kube/resource.ts';
import { applyRoute } from '../../../operator/routes/apply.ts';
import type { RouteStep } from '../../../operator/routes/decide.ts';
import type { KnownRoute } from '../../../operator/routes/live-route.ts';
import { renderRoutes } from '../../../operator/routes/render.ts';
import { createManualTimedClock } from '../kube/manual-timed-clock.ts';
import { readyEdge, routed } from './samples.ts';

/** A client for which routes with these names belong to somebody else. */
function clientOf(taken: readonly string[]) {
  const asked: string[] = [];
  const client = {
    apply: async (_type: unknown, { metadata: { name } }: { metadata: { name: string } }) => {
      asked.push(`apply ${name}`);
      const failure = new KubeFailure({ reason: 'Conflict', message: 'taken' });
      const value = { metadata: { name, uid: name } };
      return taken.includes(name) ? { ok: false, failure } : { ok: true, value };
    },
    listPage: async () => ({ ok: true, value: { items: [] } }),
    delete: async (_type: unknown, { name }: { name: string }, { uid }: DeleteOptions = {}) => {
      asked.push(`delete ${name} of uid ${uid}`);
      const failure = new KubeFailure({ reason: 'Conflict', message: 'another uid' });
      return taken.includes(name) ? { ok: false, failure } : { ok: true };
    },
  } as unknown as KubeClient;
  return { client, asked, history: createWriteHistory(createManualTimedClock()) };
}

const namespace = 'edge';
const steps = [
  ...['shop', 'shop.2', 'shop.3'].map((name) => ({
    ...{ do: 'apply', to: 'new' },
    route: {
      ...{ mode: 'Gateway', hosts: [], spec: {} },
      metadata: { name, namespace, annotations: {}, labels: {}, ownerReferences: [] },
    },
  })),
  {
    do: 'delete',
    route: { mode: 'Gateway', object: { metadata: { name: 'old', namespace, uid: 'u-1' } } },
  },
] as unknown as RouteStep[];

it('one refused route is reported and prevents deletions, but not the other writes', async () => {
  const { client, asked, history } = clientOf(['shop', 'shop.3']);
  const message = expect.stringContaining(`'edge/shop' exists`);
  const { problem } = await applyRoute(client, steps, history);
  expect(problem).toEqual({ reason: 'RouteTaken', message });
  expect(asked).toEqual(['apply shop', 'apply shop.2', 'apply shop.3']);
});

it('an obsolete route is deleted once all others are written', async () => {
  const { client, asked, history } = clientOf([]);
  expect((await applyRoute(client, steps, history)).problem).toBeUndefined();
  expect(asked.at(-1)).toBe('delete old of uid u-1');
});

it('an obsolete route is deleted only by its uid, so a new one of the same name stays', async () => {
  const { client, asked, history } = clientOf(['old']);
  expect((await applyRoute(client, steps, history)).problem).toBeUndefined();
  expect(asked.at(-1)).toBe('delete old of uid u-1');
});

/** A cluster with one route or none. */
function clusterOf() {
  const cluster: { held: KubeObject | undefined; asked: string[] } = { held: undefined, asked: [] };
  let uids = 0;
  const client = {
    listPage: async () => {
      cluster.asked.push('list');
      return { ok: true, value: { items: cluster.held === undefined ? [] : [cluster.held] } };
    },
    apply: async (_type: unknown, { metadata, spec }: { metadata: object; spec: object }) => {
      cluster.asked.push('apply');
      uids += cluster.held === undefined ? 1 : 0;
      cluster.held = { metadata: { ...metadata, uid: `u-${uids}` }, spec } as unknown as KubeObject;
      return { ok: true, value: cluster.held };
    },
    delete: async () => {
      cluster.asked.push('delete');
      return { ok: true };
    },
  } as unknown as KubeClient;
  const clock = createManualTimedClock();
  const history = createWriteHistory(clock);
  const [route] = renderRoutes(readyEdge(), routed, []);
  if (route === undefined) throw new Error('a project without a route of its own');
  const run = async (to: 'new' | 'ours', more: readonly RouteStep[] = []) => {
    cluster.asked = [];
    const done = await applyRoute(client, [{ do: 'apply', route, to }, ...more], history);
    return { ...done, asked: cluster.asked };
  };
  const change = (spec: object) => {
    cluster.held = { ...cluster.held, spec } as unknown as KubeObject;
  };
  return { cluster, clock, route, run, change };
}

it('a route that a stale cache does not show is looked up before it counts as undone', async () => {
  const { run } = clusterOf();
  expect((await run('new')).asked).toEqual(['apply']);
  for (let times = 0; times < 5; times += 1) {
    expect(await run('new')).toEqual({ asked: ['list'], mutated: [], problem: undefined });
  }
});

it('a route that somebody changes back rests, while other routes are still deleted', async () => {
  const { run, change, clock } = clusterOf();
  const old = {
    mode: 'Ingress',
    object: { metadata: { name: 'old', namespace: 'images', uid: 'u-9', resourceVersion: '1' } },
  } as const satisfies KnownRoute;
  await run('new');
  change({ rules: [] });
  expect((await run('ours')).asked).toEqual(['list', 'apply']);
  change({ rules: [] });
  expect(await run('ours')).toMatchObject({ asked: ['list'], retry_after_ms: 1_000 });
  clock.advance(1_000);
  expect((await run('ours')).asked).toEqual(['list', 'apply']);
  change({ rules: [] });
  const rests = await run('ours', [{ do: 'delete', route: old }]);
  expect(rests).toMatchObject({
    ...{ asked: ['list', 'delete'], retry_after_ms: 2_000 },
    problem: { reason: 'RouteUndone', message: expect.stringContaining('changes `spec.rules`') },
  });
});

it('a single change to a route that was left alone for long is not reported as undone', async () => {
  const { run, change, clock } = clusterOf();
  await run('new');
  for (let times = 0; times < 4; times += 1) {
    change({ rules: [] });
    await run('ours');
    clock.advance(4_000);
    await run('ours');
  }
  change({ rules: [] });
  expect((await run('ours')).problem?.reason).toBe('RouteUndone');
  // The route has rested: it is written again, and nobody is blamed.
  clock.advance(3_600_000);
  expect(await run('ours')).toMatchObject({ asked: ['list', 'apply'], problem: undefined });
});

it('nothing is deleted while a route rests that somebody deletes each time', async () => {
  const { cluster, run, clock } = clusterOf();
  const deleted = async () => {
    await run('new');
    cluster.held = undefined;
  };
  await deleted();
  await deleted();
  expect(await run('new')).toMatchObject({ retry_after_ms: 1_000, problem: undefined });
  clock.advance(1_000);
  await deleted();
  const { asked, problem, retry_after_ms } = await run('new', steps.slice(-1));
  expect(asked).toEqual(['list']);
  expect(retry_after_ms).toBe(2_000);
  expect(problem?.message).toContain('somebody deletes it each time');
});

it('a deleted route is forgotten, so it may be written again immediately', async () => {
  const { run, route } = clusterOf();
  const object = { metadata: { ...route.metadata, uid: 'u-1', resourceVersion: '1' } };
  await run('new', [{ do: 'delete', route: { mode: route.mode, object } }]);
  expect((await run('new')).asked).toEqual(['apply']);
});
