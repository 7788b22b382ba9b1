// The operator lacks permission to list one kind of route from the start. Spec: Project (status).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemTimedClock } from '../../operator/kube/timed-clock.ts';
import { type Permission, permissions } from '../../operator/permissions.ts';
import { least } from '../operator/image-service/samples.ts';
import { useDatabase } from '../support/database.ts';
import { declareRouted } from '../support/declared-route.ts';
import { kubeApply, kubeRequest } from '../support/kube-request.ts';
import { permitOperator } from '../support/operator-process.ts';
import { watchForRoutes } from '../support/route-leader.ts';
import { useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { condition, namespace, other: images, plane } = cluster;

/** A clock that limits every wait to one second. */
const clock = {
  ...systemTimedClock,
  after: (ms: number, run: () => void) => systemTimedClock.after(Math.min(ms, 1_000), run),
};
const granted: readonly Permission[] = Object.values(permissions).flat();
const permit = (rights: readonly Permission[]) => permitOperator(plane(), images(), rights);

/** All permissions except those on one kind of object. */
function without(resource: string): Permission[] {
  return granted
    .map((each) => ({ ...each, resources: each.resources.filter((one) => one !== resource) }))
    .filter(({ resources }) => resources.length > 0);
}

let routes: ReturnType<typeof watchForRoutes> | undefined;

function watchAnew() {
  routes = watchForRoutes(
    plane(),
    { teams: namespace(), images: images() },
    { clock, as: 'operator' },
  );
  return routes;
}

beforeAll(async () => {
  await permitOperator(plane(), namespace(), granted);
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService' };
  const metadata = { name: 'main', namespace: images() };
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${images()}/imageservices/main`;
  await kubeApply(plane(), path, { ...head, metadata, spec: least });
}, 300_000);

afterAll(() => routes?.stop());

const routed = (name: string) => condition('Project', name, 'Routed');
const isPresent = async (path: string) => (await kubeRequest(plane(), { path })).status === 200;

it('routes are written even if the other kind of route may not be listed', async () => {
  await permit(without('httproutes'));
  const { name, route } = await declareRouted(cluster, db);
  const watched = watchAnew();
  await watched.lead({ db }, async () => {
    await until(async () => expect((await routed(name))?.reason).toBe('NotAdmitted'));
    expect(await isPresent(route)).toBe(true);
    expect(watched.edges.health().map(({ isSynced }) => isSynced)).toEqual([true, true, false]);
  });
  await watched.stop();
}, 120_000);

it('routes of a kind that may not be listed are left alone and reported, and written once it may be', async () => {
  await permit(without('ingresses'));
  const { name, route } = await declareRouted(cluster, db);
  const watched = watchAnew();
  // No sweep runs in this test: the first successful list has to trigger the write.
  await watched.lead({ db, sweep_ms: 3_600_000 }, async () => {
    await until(async () => expect((await routed(name))?.reason).toBe('ReadRefused'));
    expect(await routed(name)).toMatchObject({
      status: 'Unknown',
      message: `the operator could not list the objects of kind Ingress in '${images()}' yet, so routes stay as they are: if it lacks a permission, its log names it`,
    });
    expect(await isPresent(route)).toBe(false);
    await permit(granted);
    await until(async () => expect((await routed(name))?.reason).toBe('NotAdmitted'));
    expect(await isPresent(route)).toBe(true);
  });
}, 120_000);
