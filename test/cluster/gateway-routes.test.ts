import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openObjectCaches } from '../../operator/cluster/object-caches.ts';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import { openEdgeCaches } from '../../operator/routes/edge-caches.ts';
import { createRouteController } from '../../operator/routes/route-controller.ts';
import { updateProjectDomains } from '../../runtime/db/project-domains.ts';
import { least } from '../operator/image-service/samples.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { useDatabase } from '../support/database.ts';
import { installHttpRoutes } from '../support/gateway-api.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { makeProject } from '../support/rows.ts';

const { db } = useDatabase();
const namespace = 'default';
const ingresses = `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`;
const httpRoutes = `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes`;

// A control plane of its own: others must not find a Gateway API.
let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({ components: [] });
}, 300_000);

afterAll(() => plane?.stop());

async function led(work: () => Promise<void>): Promise<void> {
  const { client, metrics } = connectKube(plane);
  const common = { client, clock, log, metrics };
  const caches = openObjectCaches({ ...common, namespaces: [namespace] });
  const edges = openEdgeCaches({ ...common, namespace });
  const context = { client, db, clock, caches, edges, probe: async () => undefined };
  const routes = createRouteController({ context, log, metrics, sweep_ms: 200, poll_ms: 50 });
  const over = new AbortController();
  const leading = routes.lead({ epoch: 1, signal: over.signal, isCurrent: () => true });
  try {
    await work();
  } finally {
    over.abort();
    await leading;
    await Promise.all([caches.stop(), edges.stop()]);
  }
}

function declare(routing: object) {
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/imageservices/main`;
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService' };
  return kubeApply(plane, path, {
    ...head,
    metadata: { name: 'main' },
    spec: { ...least, routing },
  });
}

async function isThere(path: string): Promise<boolean> {
  return (await kubeRequest(plane, { path })).status === 200;
}

/** As the controller of the Gateway does. */
function accept(route: string) {
  const conditions = [{ type: 'Accepted', status: 'True' }];
  const body = { status: { parents: [{ parentRef: { name: 'edge' }, conditions }] } };
  const content_type = 'application/merge-patch+json';
  return kubeOk(plane, { method: 'PATCH', path: `${route}/status`, body, content_type });
}

function until(check: () => Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 60_000, interval: 25 });
}

function untilThere(path: string): Promise<void> {
  return until(async () => expect(await isThere(path)).toBe(true));
}

describe('the routes of a cluster with a Gateway', () => {
  it('are HTTPRoutes as soon as the cluster has them; an Ingress serves until the Gateway does', async () => {
    const { project_id, project_slug } = await makeProject(db);
    const name = `main-project-${project_slug}`;
    // More than one HTTPRoute may have.
    const domains = Array.from({ length: 17 }, (_, index) => `i${index}.shop.example`);
    await db.transaction((tx) => updateProjectDomains(tx, { project_id, domains }));
    await declare({ mode: 'Ingress' });
    await led(async () => {
      await untilThere(`${ingresses}/${name}`);
      await declare({ mode: 'Gateway', gatewayRef: { name: 'edge' } });
      await installHttpRoutes(plane);
      await untilThere(`${httpRoutes}/${name}.2`);
      await untilThere(`${httpRoutes}/${name}`);
      expect(await isThere(`${ingresses}/${name}`)).toBe(true);
      await accept(`${httpRoutes}/${name}`);
      expect(await isThere(`${ingresses}/${name}`)).toBe(true);
      const accepted = await accept(`${httpRoutes}/${name}.2`);
      await until(async () => expect(await isThere(`${ingresses}/${name}`)).toBe(false));
      const first = await kubeOk(plane, { path: `${httpRoutes}/${name}` });
      expect(first['spec']).toMatchObject({ hostnames: domains.slice(0, 16) });
      const { metadata, spec } = await kubeOk(plane, { path: `${httpRoutes}/${name}.2` });
      expect(spec).toMatchObject({
        hostnames: domains.slice(16),
        parentRefs: [{ name: 'edge' }],
        rules: [{ backendRefs: [{ name: 'main-delivery', port: 80 }] }],
      });
      // What the API server filled in by itself is no difference.
      expect(metadata).toMatchObject({
        generation: (accepted['metadata'] as { generation: number }).generation,
      });
    });
  }, 300_000);
});
