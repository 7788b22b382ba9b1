// A leader whose watches are open but behind does not mistake new objects for deleted ones. Spec: Project.
import { afterEach, expect, it } from 'vitest';
import { changeProjectDomains } from '../../runtime/actions/change-project-domains.ts';
import { findProject, updateProject } from '../../runtime/db/projects.ts';
import { least } from '../operator/image-service/samples.ts';
import { useDatabase } from '../support/database.ts';
import { type KubeFaultProxy, startKubeFaultProxy } from '../support/kube-fault-proxy.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { watchForRoutes } from '../support/route-leader.ts';
import { makeProject, must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
let proxy: KubeFaultProxy;
const cluster = useTenantCluster({
  db,
  through: async (plane) => {
    proxy = await startKubeFaultProxy(plane);
    return proxy;
  },
});
const { apply, condition, led, namespace, plane } = cluster;

// A watch that reopens while lines are late does not sync, so stop delaying them.
afterEach(() => proxy.lines('none'));

/** The row that a leader made for a resource. */
async function makeRow(name: string, owner_uid: string) {
  const { project_id } = await makeProject(db, { project_slug: name });
  const owner = { owner_uid, owner_namespace: namespace(), owner_name: name };
  const changes = { ...owner, owner_deletion_policy: 'suspend' as const };
  await db.transaction((tx) => updateProject(tx, { project_id, changes }));
  return project_id;
}

async function uidOf(made: Promise<unknown>): Promise<string> {
  return ((await made) as { metadata: { uid: string } }).metadata.uid;
}

async function ownerOf(project_id: string): Promise<string | null> {
  return must(await findProject(db, project_id)).owner_uid;
}

function timesAskedFor(name: string): number {
  const asked = new URLSearchParams({ fieldSelector: `metadata.name=${name}` }).toString();
  return proxy.requests.filter(({ path }) => path.endsWith(asked)).length;
}

it('a row whose resource a stale cache lacks is kept, while the row of a deleted resource is released', async () => {
  proxy.lines('late');
  const [made, gone] = [newSlug(), newSlug()];
  const owner_uid = await uidOf(apply('Project', made, {}));
  const [kept, orphan] = [await makeRow(made, owner_uid), await makeRow(gone, newSlug())];
  await led(async () => {
    await until(async () => expect(await ownerOf(orphan)).toBeNull());
    const asked = timesAskedFor(made);
    await until(async () => expect(timesAskedFor(made)).toBeGreaterThan(asked));
    expect(await ownerOf(kept)).toBe(owner_uid);
    proxy.lines('none');
    await until(async () => expect(await condition('Project', made, 'Synced')).toBeDefined());
  });
  expect(await findProject(db, kept)).toMatchObject({ owner_uid, status: 'active' });
});

type Route = { metadata: { uid: string; ownerReferences?: { uid: string }[] } };

function routePath(images: string, slug: string): string {
  return `/apis/networking.k8s.io/v1/namespaces/${images}/ingresses/main-project-${slug}`;
}

async function routeOf(images: string, slug: string): Promise<Route | undefined> {
  const { status, body } = await kubeRequest(plane(), { path: routePath(images, slug) });
  return status === 200 ? (body as Route) : undefined;
}

async function setDomains(project_id: string, domains: string[]): Promise<void> {
  await db.transaction(async (tx) => {
    await changeProjectDomains(tx, must(await findProject(tx, project_id)), domains);
  });
}

/** Marks the rows as written, as the controller of projects does: routes come after rows. */
async function sayThatRowsAreThere(name: string): Promise<void> {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const synced = { type: 'Synced', status: 'True', reason: 'InSync', message: '' };
  const body = { status: { conditions: [{ ...synced, lastTransitionTime }] } };
  const path = `${cluster.path('Project', name)}/status`;
  const content_type = 'application/merge-patch+json';
  await kubeOk(plane(), { method: 'PATCH', path, body, content_type });
}

/** Removes the owner, so that the garbage collector leaves the route alone. */
async function disown(images: string, slug: string): Promise<void> {
  const content_type = 'application/merge-patch+json';
  const body = { metadata: { ownerReferences: null } };
  await kubeOk(plane(), { method: 'PATCH', path: routePath(images, slug), body, content_type });
}

it('a route whose project a stale cache lacks is kept, while a route that is not needed is deleted', async () => {
  const [images, slug, another] = [cluster.other(), newSlug(), newSlug()];
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${images}/imageservices/main`;
  const service = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService', spec: least };
  const declare = async () => ({
    service: await uidOf(kubeApply(plane(), path, { ...service, metadata: { name: 'main' } })),
    project: await uidOf(apply('Project', slug, { routing: { perProject: 'Always' } })),
  });
  const project_id = await makeRow(slug, (await declare()).project);
  const { project_id: left } = await makeProject(db, { project_slug: another });
  await setDomains(left, [`${another}.example`]);
  await sayThatRowsAreThere(slug);
  const before = watchForRoutes(plane(), { teams: namespace(), images });
  await before.lead({ db }, async () => {
    await until(async () => expect(await routeOf(images, slug)).toBeDefined());
    await until(async () => expect(await routeOf(images, another)).toBeDefined());
  });
  await before.stop();
  const made = must(await routeOf(images, slug));
  for (const each of [slug, another]) await disown(images, each);
  for (const each of [path, cluster.path('Project', slug)]) {
    await kubeOk(plane(), { method: 'DELETE', path: each });
  }
  const behind = watchForRoutes(proxy, { teams: namespace(), images });
  await behind.synced;
  proxy.lines('late');
  const owner = await declare();
  const changes = { owner_uid: owner.project };
  await db.transaction((tx) => updateProject(tx, { project_id, changes }));
  await setDomains(left, []);
  await behind.lead({ db }, async () => {
    await until(async () => expect(await routeOf(images, another)).toBeUndefined());
    await until(async () => {
      const { metadata } = must(await routeOf(images, slug));
      expect(metadata.uid).toBe(made.metadata.uid);
      expect(metadata.ownerReferences).toMatchObject([{ uid: owner.service }]);
    });
  });
  await behind.stop();
});
