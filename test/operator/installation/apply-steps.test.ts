/** How a pass handles objects that the API server accepts, rejects or cannot judge now. */
import { describe, expect, it } from 'vitest';
import { digest, type RenderedObject } from '../../../operator/image-service/render/object.ts';
import { renderInstallation } from '../../../operator/image-service/render/render.ts';
import { renderRoutes } from '../../../operator/image-service/render/routes.ts';
import { apply, presentOf, remove } from '../../../operator/image-service/steps.ts';
import { applySteps, planSteps } from '../../../operator/installation/apply-steps.ts';
import { typeOf } from '../../../operator/installation/live-types.ts';
import { liveKey } from '../../../operator/installation/observe.ts';
import { createWriteHistory } from '../../../operator/installation/write-history.ts';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { type FailureReason, KubeFailure, unwrap } from '../../../operator/kube/kube-failure.ts';
import type { KubeObject } from '../../../operator/kube/resource.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { installation, least } from '../image-service/samples.ts';
import { connectKube } from '../kube/connect.ts';
import { createManualTimedClock } from '../kube/manual-timed-clock.ts';

const history = () => createWriteHistory(createManualTimedClock());

const [refused, taken] = renderInstallation(installation(least)).ground;
if (refused === undefined || taken === undefined) throw new Error('two objects are rendered first');
const old = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main-api' };

/** Runs a pass against an API server that refuses one object for `reason`; undefined: none. */
async function carriedOut(reason: FailureReason | undefined) {
  const failure = (of: FailureReason) => ({
    ok: false as const,
    failure: new KubeFailure({ reason: of, message: 'failed calling webhook' }),
  });
  const deleted: string[] = [];
  const client = {
    get: async () => failure('NotFound'),
    apply: async (_type: unknown, object: { metadata: { name: string } }) =>
      reason !== undefined && object.metadata.name === refused?.metadata.name
        ? failure(reason)
        : { ok: true, value: object },
    delete: async (_type: unknown, { name }: { name: string }) => {
      deleted.push(name);
      return { ok: true, value: undefined };
    },
  } as unknown as KubeClient;
  const metadata = { name: old.name, namespace: 'tintype', uid: 'u', resourceVersion: '1' };
  const live = new Map([[liveKey(old), { ...old, metadata }]]);
  const steps = [...[refused, taken].flatMap((each) => (each ? [apply(each)] : [])), remove(old)];
  const { written, problems } = await applySteps(client, steps, { live, history: history() });
  return { written: written.map(({ change, name }) => [change, name]), problems, deleted };
}

it('an object that is no longer declared is deleted after everything else was written', async () => {
  expect((await carriedOut(undefined)).deleted).toEqual(['main-api']);
});

describe('an object that was deleted and made anew after it was listed', () => {
  const shared = useControlPlane();

  it('is not deleted', async () => {
    const { client } = connectKube(shared.plane());
    const at = { namespace: await shared.namespace(), name: 'main-api' };
    const type = typeOf({ kind: 'ServiceAccount' });
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', name: at.name };
    const listed = unwrap(await client.create(type, { metadata: at }));
    unwrap(await client.delete(type, at));
    const anew = unwrap(await client.create(type, { metadata: at }));
    const live = new Map([[liveKey(account), listed]]);
    const result = await applySteps(client, [remove(account)], { live, history: history() });
    expect(result).toMatchObject({ written: [], problems: [{ name: at.name }] });
    expect(unwrap(await client.get(type, at)).metadata.uid).toBe(anew.metadata.uid);
    client.close();
  });
});

it.each(['Invalid', 'Unavailable'] as const)(
  'nothing is deleted after a write failed with %s, and the other objects are written',
  async (reason) => {
    const { written, problems, deleted } = await carriedOut(reason);
    expect(deleted).toEqual([]);
    expect(written).toEqual([['create', taken.metadata.name]]);
    expect(problems).toHaveLength(1);
  },
);

it('an object of others under the same name is left alone, even if nothing in it conflicts', async () => {
  const applied: unknown[] = [];
  const metadata = { ...taken.metadata, ownerReferences: [], uid: 'u', resourceVersion: '1' };
  const client = {
    get: async () => ({ ok: true, value: { ...taken, metadata } }),
    apply: async (_type: unknown, object: object) => {
      applied.push(object);
      return { ok: true, value: object };
    },
  } as unknown as KubeClient;
  const { written, problems } = await applySteps(client, [apply(taken)], {
    live: new Map(),
    history: history(),
  });
  expect([applied, written]).toEqual([[], []]);
  expect(problems).toMatchObject([{ name: taken.metadata.name, reason: 'ObjectTaken' }]);
});

it('an object owned by reference is applied again, even if others changed its labels', async () => {
  const applied: unknown[] = [];
  const metadata = { ...taken.metadata, labels: {}, uid: 'u', resourceVersion: '1' };
  const client = {
    get: async () => ({ ok: true, value: { ...taken, metadata } }),
    apply: async (_type: unknown, value: object, how: object) => {
      applied.push(how);
      return { ok: true, value };
    },
  } as unknown as KubeClient;
  const { problems } = await applySteps(client, [apply(taken)], {
    live: new Map(),
    history: history(),
  });
  expect(problems).toEqual([]);
  expect(applied).toEqual([{ owner: 'tintype/image-service' }]);
});

it('nothing is created if the operator may not read whether the object exists', async () => {
  const failure = new KubeFailure({ reason: 'Forbidden', message: 'cannot get' });
  const client = { get: async () => ({ ok: false, failure }) } as unknown as KubeClient;
  const { written, problems } = await applySteps(client, [apply(taken)], {
    live: new Map(),
    history: history(),
  });
  expect(written).toEqual([]);
  expect(problems).toMatchObject([{ name: taken.metadata.name, reason: 'ObjectRefused' }]);
});

const gateway = { mode: 'Gateway', gatewayRef: { name: 'edge' } } as const;

it('a missing Gateway API is reported with what to do', async () => {
  const [route] = renderRoutes(installation({ ...least, routing: gateway }));
  const failure = new KubeFailure({ reason: 'NotFound', message: 'the API server answered 404' });
  const unknown = async () => ({ ok: false, failure });
  const client = { get: unknown, apply: unknown } as unknown as KubeClient;
  const { problems } = await applySteps(client, route ? [apply(route)] : [], {
    live: new Map(),
    history: history(),
  });
  expect(problems).toEqual([
    {
      kind: 'HTTPRoute',
      name: 'main-api',
      reason: 'GatewayAPIMissing',
      message:
        "HTTPRoute 'main-api' cannot be written, as the cluster has no Gateway API: install it, or set `spec.routing.mode` to Ingress.",
    },
  ]);
});

function stored(object: RenderedObject, status: object = {}): [string, KubeObject] {
  const annotations = { 'tintype.dev/applied': digest(object) };
  const metadata = { ...object.metadata, annotations, uid: 'u', resourceVersion: '1' };
  return [liveKey(presentOf(object)), { ...object, metadata, status } as KubeObject];
}

it('reverting a change by others counts as healing, applying a new rendering does not', () => {
  const [ingress] = renderRoutes(installation(least));
  const [anew] = renderRoutes(installation({ ...least, baseURL: 'https://other.example' }));
  if (ingress === undefined || anew === undefined) throw new Error('the API has a route');
  const [key, object] = stored(ingress);
  const live = new Map([[key, { ...object, spec: { ingressClassName: 'another' } }]]);
  expect(planSteps([apply(ingress)], live)).toMatchObject([{ change: 'update', isDrift: true }]);
  const [rendered] = planSteps([apply(anew)], live);
  expect(rendered).toMatchObject({ change: 'update' });
  expect(rendered).not.toHaveProperty('isDrift');
});

describe('a route of the kind that is no longer declared', () => {
  const [ingress] = renderRoutes(installation(least));
  const [httpRoute] = renderRoutes(installation({ ...least, routing: gateway }));
  if (ingress === undefined || httpRoute === undefined) throw new Error('the API has a route');
  const accepted = (status: string) => ({
    parents: [{ parentRef: gateway.gatewayRef, conditions: [{ type: 'Accepted', status }] }],
  });
  const byAnother = {
    parents: [{ ...accepted('True').parents[0], parentRef: { name: 'another' } }],
  };
  const address = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
  const elsewhere = { ...httpRoute, spec: { parentRefs: [{ name: 'another' }] } };

  it.each([
    ['stays while the new route does not exist', ingress, httpRoute, undefined, 0],
    ['stays while no Gateway serves the new route', ingress, httpRoute, stored(httpRoute), 0],
    [
      'stays if the new route is refused',
      ingress,
      httpRoute,
      stored(httpRoute, accepted('False')),
      0,
    ],
    [
      'stays if only an earlier state of the new route was admitted',
      ingress,
      httpRoute,
      stored(elsewhere, accepted('True')),
      0,
    ],
    [
      'stays if only another Gateway serves the new route',
      ingress,
      httpRoute,
      stored(httpRoute, byAnother),
      0,
    ],
    [
      'is deleted once the Gateway serves the new route',
      ingress,
      httpRoute,
      stored(httpRoute, accepted('True')),
      1,
    ],
    ['stays until the new Ingress has an address', httpRoute, ingress, stored(ingress), 0],
    [
      'is deleted once the new Ingress has an address',
      httpRoute,
      ingress,
      stored(ingress, address),
      1,
    ],
  ] as const)('%s, and the plan says the same', async (_, before, after, other, gone) => {
    const live = new Map([stored(before), ...(other === undefined ? [] : [other])]);
    const step = { do: 'delete', object: presentOf(before), after } as const;
    const deleted: string[] = [];
    const client = {
      delete: async (_type: unknown, { name }: { name: string }) => {
        deleted.push(name);
        return { ok: true, value: undefined };
      },
    } as unknown as KubeClient;
    await applySteps(client, [step], { live, history: history() });
    expect(deleted).toHaveLength(gone);
    expect(planSteps([step], live)).toHaveLength(gone);
  });
});

describe('an object that is changed on admission', () => {
  const [service] = renderInstallation(installation(least)).ground.filter(
    ({ kind }) => kind === 'NetworkPolicy',
  );
  if (service === undefined) throw new Error('a NetworkPolicy is rendered');
  const changed = { ...(service['spec'] as object), policyTypes: ['Egress'] };

  /** An object that a policy changes, until `goAway` ends the policy. */
  function underPolicy() {
    const clock = createManualTimedClock();
    let version = 1;
    let spec: unknown = changed;
    const answer = () => {
      const metadata = { ...service?.metadata, uid: 'u', resourceVersion: String(version) };
      const annotations = { 'tintype.dev/applied': digest(service) };
      return { ok: true, value: { ...service, metadata: { ...metadata, annotations }, spec } };
    };
    let written = 0;
    const client = {
      apply: async () => {
        written += 1;
        return answer();
      },
      merge: async () => answer(),
    } as unknown as KubeClient;
    const kept = createWriteHistory(clock);
    return {
      clock,
      goAway: () => {
        version += 1;
        spec = service?.['spec'];
      },
      /** Runs one pass over the object, with these changes by somebody else. */
      look: async (more: object = {}, metadata: object = {}) => {
        const { value } = answer();
        const object = { ...value, metadata: { ...value.metadata, ...metadata }, ...more };
        const live = new Map([[liveKey(presentOf(service as RenderedObject)), object]]);
        const steps = [apply(service as RenderedObject)];
        const result = await applySteps(client, steps, { live: live as never, history: kept });
        const mutated = result.mutated.map(({ paths, since }) => [...paths, since]);
        return { writes: written, mutated, changes: result.written.length };
      },
    };
  }

  it('is written once and reported, and again when somebody changes anything else in it', async () => {
    const { look, clock } = underPolicy();
    const path = '.spec.policyTypes';
    // The stored object did not change, so there is no change to report.
    expect(await look()).toEqual({ writes: 1, mutated: [[path, 'tried']], changes: 0 });
    expect(await look()).toEqual({ writes: 1, mutated: [[path, 'before']], changes: 0 });
    expect((await look({ spec: { ...changed, egress: [] } })).writes).toBe(2);
    expect((await look()).writes).toBe(2);
    const twice = { ownerReferences: [] };
    expect((await look({}, twice)).writes).toBe(3);
    expect((await look({}, twice)).writes).toBe(3);
    clock.advance(1_000);
    expect((await look({}, twice)).writes).toBe(4);
  });

  it('is retried every hour, to notice that the policy is gone', async () => {
    const { look, clock, goAway } = underPolicy();
    await look();
    clock.advance(59 * 60_000);
    expect(await look()).toMatchObject({ writes: 1 });
    clock.advance(60_000);
    expect(await look()).toMatchObject({ writes: 2, mutated: [[expect.anything(), 'tried']] });
    clock.advance(60 * 60_000);
    const before = { spec: changed };
    goAway();
    expect(await look(before)).toMatchObject({ writes: 3, mutated: [] });
  });
});

it('a change to an object without a spec is noticed beside what admission made of it', () => {
  const [account] = renderInstallation(installation(least)).ground.filter(
    ({ kind }) => kind === 'ServiceAccount',
  );
  if (account === undefined) throw new Error('an account is rendered');
  const { mutations } = history();
  const metadata = {
    ...account.metadata,
    uid: 'u',
    resourceVersion: '1',
    labels: { by: 'policy' },
  };
  const live = { ...account, metadata };
  const opened = { ...live, automountServiceAccountToken: true };
  mutations.record(account, live);
  expect(mutations.find(account, live)).toEqual(
    Object.keys(account.metadata.labels).map((label) => `.metadata.labels.${label}`),
  );
  expect(mutations.find(account, opened)).toBeUndefined();
});
