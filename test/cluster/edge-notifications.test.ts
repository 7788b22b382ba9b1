import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemTimedClock as clock } from '../../operator/kube/timed-clock.ts';
import { type EdgeCaches, openEdgeCaches } from '../../operator/routes/edge-caches.ts';
import { least } from '../operator/image-service/samples.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { silentLog as log } from '../operator/kube/silent-log.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { until } from '../support/until.ts';

const cluster = useControlPlane();
const { plane } = cluster;

let namespace: string;
let edges: EdgeCaches;
/** The slugs of the projects to examine, in order; `all` stands for every project. */
let reported: string[];
let stop: () => Promise<void>;

beforeEach(async () => {
  namespace = await cluster.namespace();
  const { client, metrics } = connectKube(plane());
  edges = openEdgeCaches({ client, clock, log, metrics, namespace });
  reported = [];
  await edges.synced;
  edges.subscribe((slug = 'all') => reported.push(slug));
  stop = async () => {
    await edges.stop();
    client.close();
  };
  await declare({});
  await until(() => expect(edges.find().state).toBe('ready'));
  reported.length = 0;
});
afterEach(() => stop());

function declare(spec: object) {
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService' };
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/imageservices/main`;
  return kubeApply(plane(), path, {
    ...head,
    metadata: { name: 'main' },
    spec: { ...least, ...spec },
  });
}

const ingress = (name: string) =>
  `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses/${name}`;
const routeOf = (slug: string) => `main-project-${slug}`;

function write(name: string, annotations = {}) {
  const service = { name: 'main-delivery', port: { name: 'http' } };
  const paths = [{ path: '/', pathType: 'Prefix', backend: { service } }];
  const spec = { rules: [{ host: `${name}.example`, http: { paths } }] };
  const head = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' };
  return kubeApply(plane(), ingress(name), {
    ...head,
    metadata: { name, annotations },
    spec,
  });
}

const admit = (name: string) =>
  kubeOk(plane(), {
    ...{ method: 'PATCH', path: `${ingress(name)}/status` },
    body: { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
    content_type: 'application/merge-patch+json',
  });

const remove = (name: string) => kubeOk(plane(), { method: 'DELETE', path: ingress(name) });

/** Waits until all earlier changes are reported: a marker that is written now comes after them. */
async function settled(): Promise<string[]> {
  marks += 1;
  const mark = `mark${marks}`;
  await write(routeOf(mark));
  await until(() => expect(reported).toContain(mark));
  return reported.filter((each) => !each.startsWith('mark'));
}
let marks = 0;

describe('the projects that are looked at when a route changes', () => {
  it('are only the one of the route when it is created, served or deleted', async () => {
    for (const each of ['a', 'b', 'c']) await write(routeOf(each));
    await admit(routeOf('b'));
    await remove(routeOf('c'));
    expect(await settled()).toEqual(['a', 'b', 'c', 'b', 'c']);
  });

  it('are all when the wildcard route is created, served or deleted, and none in between', async () => {
    await write('main-delivery');
    expect(await settled()).toEqual(['all']);
    await write('main-delivery', { 'example.com/by': 'others' });
    expect(await settled()).toEqual(['all']);
    await admit('main-delivery');
    expect(await settled()).toEqual(['all', 'all']);
    await remove('main-delivery');
    expect(await settled()).toEqual(['all', 'all', 'all']);
  });

  it('are none if the route leads to the API or belongs to another ImageService', async () => {
    for (const name of ['main-api', 'other-delivery']) {
      await write(name);
      await admit(name);
      await remove(name);
    }
    expect(await settled()).toEqual([]);
  });

  it('are all when the ImageService changes how it is routed', async () => {
    await declare({ ingressClassName: 'another' });
    await until(() => expect(reported).toEqual(['all']));
  });
});
