// Routes that somebody reverts each time, and routes that a policy changes on admission. Spec: Project (status).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemTimedClock } from '../../operator/kube/timed-clock.ts';
import { least } from '../operator/image-service/samples.ts';
import { countReverts } from '../support/count-reverts.ts';
import { useDatabase } from '../support/database.ts';
import { declareRouted } from '../support/declared-route.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { mutateOnWayIn } from '../support/mutating-policy.ts';
import { watchForRoutes } from '../support/route-leader.ts';
import { useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const cluster = useTenantCluster({ db });
const { condition, events, namespace, other: images, plane } = cluster;
const LABEL = 'tintype.dev/project';
const content_type = 'application/merge-patch+json';

let ahead_ms = 0;
const clock = { ...systemTimedClock, elapsed: () => systemTimedClock.elapsed() + ahead_ms };
let routes: ReturnType<typeof watchForRoutes>;

beforeAll(async () => {
  routes = watchForRoutes(plane(), { teams: namespace(), images: images() }, { clock });
  const service = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService' };
  const metadata = { name: 'main', namespace: images() };
  const place = `/apis/tintype.dev/v1alpha1/namespaces/${images()}/imageservices/main`;
  const spec = { ...least, ingressClassName: 'public' };
  await kubeApply(plane(), place, { ...service, metadata, spec });
}, 300_000);

afterAll(() => routes.stop());

type Ingress = {
  metadata: {
    resourceVersion: string;
    uid: string;
    labels?: Record<string, string>;
  };
  spec: { ingressClassName: string; rules: { host: string }[] };
};

type Declared = Awaited<ReturnType<typeof declareRouted>>;

const declared = () => declareRouted(cluster, db);

async function read({ route }: Declared): Promise<Ingress | undefined> {
  const { status, body } = await kubeRequest(plane(), { path: route });
  return status === 200 ? (body as Ingress) : undefined;
}

async function untilReason({ name }: Declared, reason: string): Promise<void> {
  await until(async () =>
    expect((await condition('Project', name, 'Routed'))?.reason).toBe(reason),
  );
}

/** The Events about one Project. */
async function listEvents({ name }: Declared) {
  const all = (await events()).filter(({ regarding }) => regarding.name === name);
  return all.map(({ type, reason, note }) => ({ type, reason, note }));
}

async function countWrites(): Promise<number> {
  const writes = /^rest_client_requests_total\{.*method="(?:PATCH|POST|PUT|DELETE)".*\} (\d+)$/gm;
  const counts = [...(await routes.metrics.print()).matchAll(writes)].map(([, n]) => Number(n));
  return counts.reduce((sum, each) => sum + each, 0);
}

/** The passes run every 200 ms. */
async function expectNoWrites(): Promise<void> {
  await pause(1_000);
  const writes = await countWrites();
  await pause(3_000);
  expect(await countWrites()).toBe(writes);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it('a route that somebody changes back is written less and less often, and the writer is named', async () => {
  const project = await declared();
  const { host, route, name } = project;
  const isAsWritten = async () => (await read(project))?.spec.rules[0]?.host === host;
  await routes.lead({ db }, async () => {
    await until(async () => expect(await isAsWritten()).toBe(true));
    const rules = [{ ...(await read(project))?.spec.rules[0], host: 'another.example' }];
    const path = `${route}?fieldManager=host-keeper`;
    const undo = () =>
      kubeRequest(plane(), { method: 'PATCH', path, content_type, body: { spec: { rules } } });
    const undone = await countReverts({ isAsWritten, undo }, async () => {
      await untilReason(project, 'RouteUndone');
      const said =
        `the Ingress '${images()}/main-project-${name}' does not stay as written: 'host-keeper' changes \`spec.rules[0].host\` each time; ` +
        'it is written again less and less often, finally every five minutes: stop whoever changes it';
      const { status, message } = (await condition('Project', name, 'Routed')) ?? {};
      expect({ status, message }).toEqual({ status: 'False', message: said });
      await until(async () =>
        expect(await listEvents(project)).toEqual([
          { type: 'Warning', reason: 'RouteUndone', note: said },
        ]),
      );
      await pause(8_000);
    });
    // The first write is immediate; the others follow after 1, 2, 4 and 8 seconds.
    expect(undone).toBeGreaterThanOrEqual(4);
    expect(undone).toBeLessThanOrEqual(6);
    await until(async () => expect(await isAsWritten()).toBe(true));
    await untilReason(project, 'NotAdmitted');
    expect(await listEvents(project)).toHaveLength(1);
  });
}, 180_000);

it('a route that somebody deletes each time is written less and less often, and that is reported', async () => {
  const project = await declared();
  const { route, name } = project;
  const isAsWritten = async () => (await read(project)) !== undefined;
  await routes.lead({ db }, async () => {
    const undo = () => kubeRequest(plane(), { method: 'DELETE', path: route });
    const undone = await countReverts({ isAsWritten, undo }, async () => {
      await untilReason(project, 'RouteUndone');
      const { message } = (await condition('Project', name, 'Routed')) ?? {};
      expect(message).toContain('somebody deletes it each time');
      await pause(8_000);
    });
    expect(undone).toBeGreaterThanOrEqual(4);
    expect(undone).toBeLessThanOrEqual(6);
    await until(async () => expect(await isAsWritten()).toBe(true));
  });
}, 180_000);

it('a route that a policy changes on admission is left as it is, and tried again once an hour', async () => {
  const takeBack = await mutateOnWayIn(plane(), {
    ...{ namespace: images(), group: 'networking.k8s.io', resources: 'ingresses' },
    ...{ path: '/spec/ingressClassName', value: 'internal' },
  });
  const classOf = async (project: Declared) => (await read(project))?.spec.ingressClassName;
  const probe = await declared();
  await until(async () => {
    const metadata = { name: `main-project-${probe.name}` };
    const spec = { ingressClassName: 'probe', rules: [{ host: 'probe.example' }] };
    const ingress = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec };
    await kubeApply(plane(), probe.route, ingress);
    expect(await classOf(probe)).toBe('internal');
    await kubeRequest(plane(), { method: 'DELETE', path: probe.route });
  });
  const project = await declared();
  await routes.lead({ db, sweep_ms: 200 }, async () => {
    await until(async () => expect(await classOf(project)).toBe('internal'));
    await untilReason(project, 'NotAdmitted');
    await expectNoWrites();
    const note = `a policy or webhook of the cluster changes spec.ingressClassName of Ingress main-project-${project.name} on admission; the operator leaves that unchanged, and tries again within the hour`;
    expect(await listEvents(project)).toEqual([{ type: 'Normal', reason: 'ChangedOnWayIn', note }]);
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    for (const each of [project, probe]) {
      const request = { method: 'PATCH', path: `${each.route}/status`, content_type } as const;
      await kubeOk(plane(), { ...request, body: { status } });
    }
    await until(async () =>
      expect((await condition('Project', project.name, 'Routed'))?.message).toContain(
        'main-delivery',
      ),
    );
    await expectNoWrites();
    const writes = await countWrites();
    const before = (await read(project))?.metadata.resourceVersion;
    ahead_ms += 60 * 60_000;
    await until(async () => expect(await countWrites()).toBeGreaterThan(writes));
    await expectNoWrites();
    expect((await read(project))?.metadata.resourceVersion).toBe(before);
    await takeBack();
    // A deleted policy stays in effect for a moment.
    await until(async () => {
      ahead_ms += 60 * 60_000;
      expect(await classOf(project)).toBe('public');
    });
  });
}, 180_000);

it('a route whose label somebody overwrites is kept, and gets its label back', async () => {
  const [project, other] = [await declared(), await declared()];
  const labels = async (each: Declared) => (await read(each))?.metadata.labels ?? {};
  const overwrite = async (label: string | undefined) => {
    const path = `${project.route}?fieldManager=labeller`;
    const body = { metadata: { labels: { [LABEL]: label } } };
    await kubeOk(plane(), { method: 'PATCH', path, content_type, body });
  };
  const led = async (work: () => Promise<void>) => routes.lead({ db, sweep_ms: 200 }, work);
  await led(async () => {
    await untilReason(project, 'NotAdmitted');
    await untilReason(other, 'NotAdmitted');
  });
  const uid = (await read(project))?.metadata.uid;
  const own = (await labels(project))[LABEL];
  const others = (await labels(other))[LABEL];
  for (const label of ['nobody', others]) {
    await overwrite(label);
    // A leader that starts after the change.
    await led(() => until(async () => expect((await labels(project))[LABEL]).toBe(own)));
    await led(async () => {
      await overwrite(label);
      await until(async () => expect((await labels(project))[LABEL]).toBe(own));
    });
  }
  expect((await read(project))?.metadata.uid).toBe(uid);
  expect((await condition('Project', project.name, 'Routed'))?.reason).toBe('NotAdmitted');
  expect(await listEvents(project)).toEqual([]);
}, 180_000);

it('a route that somebody changes back slowly is reported between two changes as well', async () => {
  const project = await declared();
  const { host, route } = project;
  const isAsWritten = async () => (await read(project))?.spec.rules[0]?.host === host;
  await routes.lead({ db, sweep_ms: 200 }, async () => {
    await untilReason(project, 'NotAdmitted');
    const rules = [{ ...(await read(project))?.spec.rules[0], host: 'another.example' }];
    const undo = () =>
      kubeOk(plane(), { method: 'PATCH', path: route, content_type, body: { spec: { rules } } });
    for (let times = 0; times < 5; times += 1) {
      ahead_ms += 120_000;
      await undo();
      await until(async () => expect(await isAsWritten()).toBe(true));
    }
    await untilReason(project, 'RouteUndone');
    await pause(1_000);
    await untilReason(project, 'RouteUndone');
    expect(await listEvents(project)).toHaveLength(1);
    ahead_ms += 300_000;
    await untilReason(project, 'NotAdmitted');
  });
}, 180_000);

it.each([
  { field: 'ownerReferences', value: [], kept: 'labels' },
  { field: 'labels', value: {}, kept: 'ownerReferences' },
])(
  'a route whose $field a policy removes is reported, and not written again and again',
  async ({ field, value, kept }) => {
    const takeBack = await mutateOnWayIn(plane(), {
      ...{ namespace: images(), group: 'networking.k8s.io', resources: 'ingresses' },
      ...{ path: `/metadata/${field}`, value },
    });
    const project = await declared();
    await routes.lead({ db, sweep_ms: 200 }, async () => {
      await untilReason(project, 'NotAdmitted');
      // A new policy takes effect after a moment.
      await until(async () => {
        await kubeRequest(plane(), { method: 'DELETE', path: project.route });
        await until(async () => expect(await read(project)).toBeDefined());
        const { metadata } = (await read(project)) ?? {};
        expect(metadata).not.toHaveProperty(field);
        expect(metadata).toHaveProperty(kept);
      });
      const changed = `a policy or webhook of the cluster changes metadata.${field} of Ingress main-project-${project.name} on admission`;
      const note = `${changed}; the operator leaves that unchanged, and tries again within the hour`;
      await until(async () =>
        expect(await listEvents(project)).toContainEqual({
          type: 'Normal',
          reason: 'ChangedOnWayIn',
          note,
        }),
      );
      await until(async () =>
        expect((await condition('Project', project.name, 'Routed'))?.message).toContain(
          `has no address yet: does the ingress controller of the class 'public' run?; ${changed}, and the operator leaves that unchanged`,
        ),
      );
      await expectNoWrites();
    });
    await takeBack();
    // A deleted policy stays in effect for a moment, also for the tests that follow.
    await until(async () => expect(await metadataAfterAdmission()).toHaveProperty(field));
  },
  180_000,
);

/** What admission leaves of the metadata of a new Ingress, which is not stored. */
async function metadataAfterAdmission(): Promise<object> {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'owner' };
  const ingress = await kubeOk(plane(), {
    method: 'POST',
    path: `/apis/networking.k8s.io/v1/namespaces/${images()}/ingresses?dryRun=All`,
    body: {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' },
      metadata: { name: 'probe', labels: { probe: 'probe' }, ownerReferences: [owner] },
      spec: { rules: [{ host: 'probe.example' }] },
    },
  });
  return (ingress as Ingress).metadata;
}
