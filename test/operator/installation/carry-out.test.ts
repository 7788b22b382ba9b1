/** What a pass does about objects that the API server takes, refuses or cannot judge now. */
import { describe, expect, it } from 'vitest';
import { digest, type RenderedObject } from '../../../operator/image-service/render/object.ts';
import { renderInstallation } from '../../../operator/image-service/render/render.ts';
import { renderRoutes } from '../../../operator/image-service/render/routes.ts';
import { apply, presentOf, remove } from '../../../operator/image-service/steps.ts';
import { createBecame } from '../../../operator/installation/became.ts';
import { carryOut, planSteps } from '../../../operator/installation/carry-out.ts';
import { liveKey } from '../../../operator/installation/observe.ts';
import type { KubeClient } from '../../../operator/kube/client.ts';
import { type FailureReason, KubeFailure } from '../../../operator/kube/kube-failure.ts';
import type { KubeObject } from '../../../operator/kube/resource.ts';
import { installation, least } from '../image-service/samples.ts';

const [refused, taken] = renderInstallation(installation(least)).ground;
if (refused === undefined || taken === undefined) throw new Error('two objects are rendered first');
const old = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'main-api' };

/** With an API server that refuses one object. */
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
  const { written, troubles } = await carryOut(client, steps, { live });
  return { written: written.map(({ change, name }) => [change, name]), troubles, deleted };
}

it('takes away what is declared no more, once everything else was written', async () => {
  expect((await carriedOut(undefined)).deleted).toEqual(['main-api']);
});

it.each(['Invalid', 'Unavailable'] as const)(
  'takes nothing away after %s, and writes the others',
  async (reason) => {
    const { written, troubles, deleted } = await carriedOut(reason);
    expect(deleted).toEqual([]);
    expect(written).toEqual([['create', taken.metadata.name]]);
    expect(troubles).toHaveLength(1);
  },
);

it('leaves alone what others have under such a name, also where nothing in it would conflict', async () => {
  const applied: unknown[] = [];
  const metadata = { ...taken.metadata, ownerReferences: [], uid: 'u', resourceVersion: '1' };
  const client = {
    get: async () => ({ ok: true, value: { ...taken, metadata } }),
    apply: async (_type: unknown, object: object) => {
      applied.push(object);
      return { ok: true, value: object };
    },
  } as unknown as KubeClient;
  const { written, troubles } = await carryOut(client, [apply(taken)], { live: new Map() });
  expect([applied, written]).toEqual([[], []]);
  expect(troubles).toMatchObject([{ name: taken.metadata.name, reason: 'ObjectTaken' }]);
});

it('takes back what is its own by reference, whatever others made of its labels', async () => {
  const applied: unknown[] = [];
  const metadata = { ...taken.metadata, labels: {}, uid: 'u', resourceVersion: '1' };
  const client = {
    get: async () => ({ ok: true, value: { ...taken, metadata } }),
    apply: async (_type: unknown, value: object, how: object) => {
      applied.push(how);
      return { ok: true, value };
    },
  } as unknown as KubeClient;
  const { troubles } = await carryOut(client, [apply(taken)], { live: new Map() });
  expect(troubles).toEqual([]);
  expect(applied).toEqual([{ owner: 'tintype/image-service' }]);
});

it('makes nothing where it cannot be told whether somebody has it', async () => {
  const failure = new KubeFailure({ reason: 'Forbidden', message: 'cannot get' });
  const client = { get: async () => ({ ok: false, failure }) } as unknown as KubeClient;
  const { written, troubles } = await carryOut(client, [apply(taken)], { live: new Map() });
  expect(written).toEqual([]);
  expect(troubles).toMatchObject([{ name: taken.metadata.name, reason: 'ObjectRefused' }]);
});

const gateway = { mode: 'Gateway', gatewayRef: { name: 'edge' } } as const;

it('says what is missing where the cluster has no Gateway API', async () => {
  const [route] = renderRoutes(installation({ ...least, routing: gateway }));
  const failure = new KubeFailure({ reason: 'NotFound', message: 'the API server answered 404' });
  const unknown = async () => ({ ok: false, failure });
  const client = { get: unknown, apply: unknown } as unknown as KubeClient;
  const { troubles } = await carryOut(client, route ? [apply(route)] : [], { live: new Map() });
  expect(troubles).toEqual([
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

it('heals what was written like this before, and not what is rendered anew', () => {
  const [ingress] = renderRoutes(installation(least));
  const [anew] = renderRoutes(installation({ ...least, baseURL: 'https://other.example' }));
  if (ingress === undefined || anew === undefined) throw new Error('the API has a route');
  const [key, object] = stored(ingress);
  const live = new Map([[key, { ...object, spec: { ingressClassName: 'another' } }]]);
  expect(planSteps([apply(ingress)], live)).toMatchObject([{ change: 'update', isHealing: true }]);
  const [rendered] = planSteps([apply(anew)], live);
  expect(rendered).toMatchObject({ change: 'update' });
  expect(rendered).not.toHaveProperty('isHealing');
});

describe('a route of the kind that is declared no more', () => {
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
    ['stays while the other is not there', ingress, httpRoute, undefined, 0],
    ['stays while nobody serves the other', ingress, httpRoute, stored(httpRoute), 0],
    [
      'stays where the other is refused',
      ingress,
      httpRoute,
      stored(httpRoute, accepted('False')),
      0,
    ],
    [
      'stays where another state was admitted',
      ingress,
      httpRoute,
      stored(elsewhere, accepted('True')),
      0,
    ],
    ['stays where another Gateway serves', ingress, httpRoute, stored(httpRoute, byAnother), 0],
    ['goes once a Gateway serves', ingress, httpRoute, stored(httpRoute, accepted('True')), 1],
    ['stays until the Ingress has an address', httpRoute, ingress, stored(ingress), 0],
    ['goes once the Ingress has an address', httpRoute, ingress, stored(ingress, address), 1],
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
    await carryOut(client, [step], { live });
    expect(deleted).toHaveLength(gone);
    expect(planSteps([step], live)).toHaveLength(gone);
  });
});

it('writes once what is changed on its way in, and anew when somebody changes anything else of it', async () => {
  const service = taken;
  let written = 0;
  const answer = (object: { metadata: object }) => {
    const metadata = { ...object.metadata, uid: 'u', resourceVersion: '1' };
    return { ok: true, value: { ...object, metadata, spec: { type: 'NodePort' } } };
  };
  const client = {
    get: async () => {
      const failure = new KubeFailure({ reason: 'NotFound', message: '' });
      return { ok: false, failure };
    },
    apply: async (_type: unknown, object: RenderedObject) => {
      written += 1;
      return answer(object);
    },
    merge: async (_type: unknown, metadata: object) => answer({ metadata }),
  } as unknown as KubeClient;
  const became = createBecame();
  const metadata = { ...service.metadata, uid: 'u', resourceVersion: '1' };
  const look = async (spec: object, more: object = {}) => {
    const annotations = { ...metadata.annotations, 'tintype.dev/applied': digest(service) };
    const object = { kind: service.kind, metadata: { ...metadata, annotations, ...more }, spec };
    const live = new Map([[liveKey({ kind: service.kind, name: metadata.name }), object]]);
    await carryOut(client, [apply(service)], { live, became });
    return written;
  };
  const spec = { type: 'NodePort' };
  expect(await look({})).toBe(1);
  expect(await look(spec)).toBe(1);
  expect(await look({ ...spec, sessionAffinity: 'ClientIP' })).toBe(2);
  expect(await look(spec)).toBe(2);
  expect(await look(spec, { ownerReferences: [] })).toBe(3);
});

it('sees what changes of an object without a spec, beside what it became', () => {
  const [account] = renderInstallation(installation(least)).ground.filter(
    ({ kind }) => kind === 'ServiceAccount',
  );
  if (account === undefined) throw new Error('an account is rendered');
  const became = createBecame();
  const metadata = {
    ...account.metadata,
    uid: 'u',
    resourceVersion: '1',
    labels: { by: 'policy' },
  };
  const live = { ...account, metadata };
  const opened = { ...live, automountServiceAccountToken: true };
  became.note(account, live);
  expect(became.isSo(account, live)).toBe(true);
  expect(became.isSo(account, opened)).toBe(false);
});
