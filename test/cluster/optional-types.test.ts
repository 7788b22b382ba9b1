import { afterAll, beforeAll, expect, it } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { least } from '../operator/image-service/samples.ts';
import { type ControlPlane, createNamespace, startControlPlane } from '../support/control-plane.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import {
  type OperatorProcess,
  permitOperator,
  startOperator,
} from '../support/operator-process.ts';
import {
  HTTP_ROUTES,
  installHttpRoutes,
  installScaledObjects,
  judgedBy,
  SCALED_OBJECTS,
} from '../support/optional-definitions.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { newSlug } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { url } = useDatabase();
// A separate control plane, so that other tests find neither a Gateway API nor KEDA.
let plane: ControlPlane;
let namespace: string;
let operator: OperatorProcess | undefined;

beforeAll(async () => {
  plane = await startControlPlane({ components: [] });
  namespace = await createNamespace(plane);
  await permitOperator(plane, namespace, Object.values(permissions).flat());
}, 300_000);
afterAll(async () => {
  await operator?.stop();
  await plane?.stop();
});

const inNamespace = (group: string, plural: string, name: string) =>
  `/apis/${group}/namespaces/${namespace}/${plural}/${name}`;

/** A ScaledObject with the labels of an installation, which the operator watches. */
function scale(): Promise<unknown> {
  const labels = {
    'app.kubernetes.io/name': 'tintype',
    'app.kubernetes.io/instance': 'some',
    'app.kubernetes.io/managed-by': 'tintype-operator',
  };
  const head = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject' };
  const path = inNamespace('keda.sh/v1alpha1', 'scaledobjects', 'some');
  const trigger = { type: 'cpu', metadata: { value: '50' } };
  const spec = { scaleTargetRef: { name: 'some' }, triggers: [trigger] };
  return kubeApply(plane, path, { ...head, metadata: { name: 'some', labels }, spec });
}

async function isReady(): Promise<boolean> {
  return (await fetch(`${operator?.watched}/readyz`)).ok;
}

/** The number of objects of a kind in the operator's cache; undefined before it has listed them. */
async function countHeld(kind: string): Promise<number | undefined> {
  const text = await (await fetch(`${operator?.watched}/metrics`)).text();
  const found = new RegExp(`^tintype_cache_objects{kind="${kind}"} (\\d+)$`, 'm').exec(text);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}

async function uninstall(path: string): Promise<void> {
  await kubeOk(plane, { method: 'DELETE', path });
  await until(async () => expect((await kubeRequest(plane, { path })).status).toBe(404));
}

it('an operator whose optional kinds are uninstalled stays ready, and uses them when they are back', async () => {
  const slug = newSlug();
  const head = { apiVersion: 'tintype.dev/v1alpha1' };
  const project = inNamespace(head.apiVersion, 'projects', slug);
  const route = inNamespace('gateway.networking.k8s.io/v1', 'httproutes', `main-project-${slug}`);
  const accept = () =>
    kubeOk(plane, {
      ...{ method: 'PATCH', path: `${route}/status` },
      body: { status: judgedBy({ name: 'edge' }) },
      content_type: 'application/merge-patch+json',
    });
  const untilRouted = (reason: string) =>
    until(async () => {
      const { status } = (await kubeOk(plane, { path: project })) as {
        status?: { conditions?: { type: string; reason: string }[] };
      };
      const found = status?.conditions?.find(({ type }) => type === 'Routed');
      expect(found?.reason).toBe(reason);
    });
  const untilHeld = (kind: string, count: number) =>
    until(async () => expect(await countHeld(kind)).toBe(count));

  operator = await startOperator(plane, {
    ...{ POD_NAMESPACE: namespace, TINTYPE_WATCH_NAMESPACES: namespace },
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey(),
  });
  await kubeApply(plane, inNamespace(head.apiVersion, 'imageservices', 'main'), {
    ...{ ...head, kind: 'ImageService', metadata: { name: 'main' } },
    spec: { ...least, routing: { mode: 'Gateway', gatewayRef: { name: 'edge' } } },
  });
  await kubeApply(plane, project, {
    ...{ ...head, kind: 'Project', metadata: { name: slug } },
    spec: { routing: { perProject: 'Always' } },
  });
  await untilRouted('GatewayAPIMissing');
  await until(async () => expect(await isReady()).toBe(true));

  const install = async () => {
    await installHttpRoutes(plane);
    await installScaledObjects(plane);
    await until(scale);
    await until(accept);
    await untilRouted('Routed');
    await untilHeld('ScaledObject', 1);
    expect(await isReady()).toBe(true);
  };
  await install();
  await uninstall(HTTP_ROUTES);
  await uninstall(SCALED_OBJECTS);
  await untilRouted('GatewayAPIMissing');
  await untilHeld('ScaledObject', 0);
  await until(async () => expect(await isReady()).toBe(true));
  await install();
}, 600_000);
