import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderInstallation } from '../../operator/image-service/render/render.ts';
import type { ImageServiceSpec } from '../../operator/image-service/schema.ts';
import { apply, pruneObjects } from '../../operator/image-service/steps.ts';
import { applySteps } from '../../operator/installation/apply-steps.ts';
import { listCluster, observeObjects } from '../../operator/installation/observe.ts';
import { createWriteHistory } from '../../operator/installation/write-history.ts';
import { systemTimedClock } from '../../operator/kube/timed-clock.ts';
import { updateProjectDomains } from '../../runtime/db/project-domains.ts';
import { installation, least } from '../operator/image-service/samples.ts';
import { connectKube } from '../operator/kube/connect.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { countReverts } from '../support/count-reverts.ts';
import { useDatabase } from '../support/database.ts';
import { declareRouted } from '../support/declared-route.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { installHttpRoutes, judgedBy } from '../support/optional-definitions.ts';
import { watchForRoutes } from '../support/route-leader.ts';
import { makeProject } from '../support/rows.ts';
import { until } from '../support/until.ts';

const { db } = useDatabase();
const namespace = 'default';
const ingresses = `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses`;
const httpRoutes = `/apis/gateway.networking.k8s.io/v1/namespaces/${namespace}/httproutes`;

// A separate control plane, so that other tests do not find a Gateway API.
let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({ components: [] });
}, 300_000);

afterAll(() => plane?.stop());

async function led(work: () => Promise<void>): Promise<void> {
  const routes = watchForRoutes(plane, { teams: namespace, images: namespace });
  await routes.lead({ db, sweep_ms: 200 }, work).finally(routes.stop);
}

function setDomains({ project_id }: { project_id: string }, ...domains: string[]) {
  return db.transaction((tx) => updateProjectDomains(tx, { project_id, domains }));
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

async function isPresent(path: string): Promise<boolean> {
  return (await kubeRequest(plane, { path })).status === 200;
}

/** Accepts the route, as the controller of the Gateway does. */
function accept(route: string, gateway = 'edge') {
  const body = { status: judgedBy({ name: gateway }) };
  const content_type = 'application/merge-patch+json';
  return kubeOk(plane, { method: 'PATCH', path: `${route}/status`, body, content_type });
}

function untilThere(path: string): Promise<void> {
  return until(async () => expect(await isPresent(path)).toBe(true));
}

describe('the routes of a cluster with a Gateway', () => {
  it('become HTTPRoutes once the cluster has them, and an Ingress stays until its Gateway serves', async () => {
    const project = await makeProject(db);
    const name = `main-project-${project.project_slug}`;
    // More hosts than fit in one HTTPRoute.
    const domains = Array.from({ length: 17 }, (_, index) => `i${index}.shop.example`);
    await setDomains(project, ...domains);
    await declare({ mode: 'Ingress' });
    await led(async () => {
      await untilThere(`${ingresses}/${name}`);
      await declare({ mode: 'Gateway', gatewayRef: { name: 'edge' } });
      await installHttpRoutes(plane);
      await untilThere(`${httpRoutes}/${name}.2`);
      await untilThere(`${httpRoutes}/${name}`);
      expect(await isPresent(`${ingresses}/${name}`)).toBe(true);
      await accept(`${httpRoutes}/${name}`);
      await accept(`${httpRoutes}/${name}.2`, 'another');
      expect(await isPresent(`${ingresses}/${name}`)).toBe(true);
      const accepted = await accept(`${httpRoutes}/${name}.2`);
      await until(async () => expect(await isPresent(`${ingresses}/${name}`)).toBe(false));
      const first = await kubeOk(plane, { path: `${httpRoutes}/${name}` });
      expect(first['spec']).toMatchObject({ hostnames: domains.slice(0, 16) });
      const { metadata, spec } = await kubeOk(plane, { path: `${httpRoutes}/${name}.2` });
      expect(spec).toMatchObject({
        hostnames: domains.slice(16),
        parentRefs: [{ name: 'edge' }],
        rules: [{ backendRefs: [{ name: 'main-delivery', port: 80 }] }],
      });
      // Defaults that the API server filled in are no difference.
      expect(metadata).toMatchObject({
        generation: (accepted['metadata'] as { generation: number }).generation,
      });
    });
  }, 300_000);

  it('drop a domain that their project loses, even while no Gateway accepts them', async () => {
    await installHttpRoutes(plane);
    const [from, to] = [await makeProject(db), await makeProject(db)];
    const [fromRoute, toRoute] = [from, to].map((each) => `main-project-${each.project_slug}`);
    const own = `${from.project_slug}.example`;
    const moved = `moved.${own}`;
    await setDomains(from, own, moved);
    await declare({ mode: 'Ingress' });
    await led(async () => {
      await untilThere(`${ingresses}/${fromRoute}`);
      await declare({ mode: 'Gateway', gatewayRef: { name: 'edge' } });
      await untilThere(`${httpRoutes}/${fromRoute}`);
      await setDomains(from, own);
      await setDomains(to, moved);
      await until(async () => {
        const { spec } = await kubeOk(plane, { path: `${ingresses}/${fromRoute}` });
        expect(spec).toMatchObject({ rules: [{ host: own }] });
        const { spec: there } = await kubeOk(plane, { path: `${httpRoutes}/${toRoute}` });
        expect(there).toMatchObject({ hostnames: [moved] });
      });
      await setDomains(from);
      await until(async () => {
        expect(await isPresent(`${ingresses}/${fromRoute}`)).toBe(false);
        expect(await isPresent(`${httpRoutes}/${fromRoute}`)).toBe(false);
      });
    });
  }, 300_000);
});

describe('an HTTPRoute that somebody changes back', () => {
  const path = (_kind: string, name: string) =>
    `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects/${name}`;
  const teams = {
    path,
    plane: () => plane,
    namespace: () => namespace,
    other: () => namespace,
    apply: (kind: string, name: string, spec: object) => {
      const head = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name } };
      return kubeApply(plane, path(kind, name), { ...head, spec });
    },
  };

  it('is written less and less often, and the condition names who changes it', async () => {
    await installHttpRoutes(plane);
    await declare({ mode: 'Gateway', gatewayRef: { name: 'edge' } });
    const { name, host } = await declareRouted(teams, db);
    const route = `${httpRoutes}/main-project-${name}`;
    const hostsOf = async () =>
      (await kubeOk(plane, { path: route }))['spec'] as { hostnames: string[] };
    const isAsWritten = async () => (await hostsOf()).hostnames[0] === host;
    const content_type = 'application/merge-patch+json';
    const body = { spec: { hostnames: ['another.example'] } };
    const undo = () =>
      kubeOk(plane, {
        ...{ method: 'PATCH', body, content_type },
        path: `${route}?fieldManager=host-keeper`,
      });
    const routed = async () => {
      const { status } = (await kubeOk(plane, { path: path('Project', name) })) as {
        status: { conditions: { type: string; status: string; message: string }[] };
      };
      return status.conditions.find(({ type }) => type === 'Routed');
    };
    await led(async () => {
      await untilThere(route);
      const undone = await countReverts({ isAsWritten, undo }, async () => {
        const message = `the HTTPRoute '${namespace}/main-project-${name}' does not stay as written: 'host-keeper' changes \`spec.hostnames[0]\` each time; it is written again less and less often, finally every five minutes: stop whoever changes it`;
        await until(async () =>
          expect(await routed()).toMatchObject({ status: 'False', reason: 'RouteUndone', message }),
        );
        await new Promise((resolve) => setTimeout(resolve, 8_000));
      });
      // The first write is immediate; the others follow after 1, 2, 4 and 8 seconds.
      expect(undone).toBeGreaterThanOrEqual(4);
      expect(undone).toBeLessThanOrEqual(6);
      await until(async () => expect(await isAsWritten()).toBe(true));
      await until(async () => expect(await routed()).toMatchObject({ reason: 'NotAdmitted' }));
    });
  }, 180_000);
});

describe('the routes of an ImageService', () => {
  const place = { name: 'changing', namespace };

  /** Writes only the installation's routes, as a pass does. */
  async function carriedOut(routing: ImageServiceSpec['routing']): Promise<string[]> {
    const { client } = connectKube(plane);
    const spec = { ...least, routing };
    const rendered = renderInstallation(installation(spec, place));
    const wanted = rendered.rest.filter(({ kind }) => /^(Ingress|HTTPRoute)$/.test(kind));
    const { live, ...cluster } = await listCluster(client, { ...place, spec });
    const { present } = observeObjects(place.name, rendered.migration, { live, ...cluster });
    const steps = [...wanted.map(apply), ...pruneObjects(wanted, { present })];
    const { written, problems } = await applySteps(client, steps, {
      live,
      history: createWriteHistory(systemTimedClock),
    });
    client.close();
    expect(problems).toEqual([]);
    return written.map(({ change, kind, name }) => `${change} ${kind} ${name}`).sort();
  }

  it('change their kind one by one, each once the new one is served', async () => {
    await installHttpRoutes(plane);
    const gateway = { mode: 'Gateway', gatewayRef: { name: 'edge' } } as const;
    const both = (change: string) => [`${change} api`, `${change} delivery`];
    const named = (words: string[]) => words.map((each) => each.replace(/(\S+)$/, 'changing-$1'));
    expect(await carriedOut({ mode: 'Ingress' })).toEqual(named(both('create Ingress')));
    expect(await carriedOut(gateway)).toEqual(named(both('create HTTPRoute')));
    expect(await carriedOut(gateway)).toEqual([]);
    await accept(`${httpRoutes}/changing-delivery`, 'another');
    expect(await carriedOut(gateway)).toEqual([]);
    await accept(`${httpRoutes}/changing-delivery`);
    expect(await carriedOut(gateway)).toEqual(named(['delete Ingress delivery']));
    await accept(`${httpRoutes}/changing-api`);
    expect(await carriedOut(gateway)).toEqual(named(['delete Ingress api']));
    expect(await carriedOut({ mode: 'Ingress' })).toEqual(named(both('create Ingress')));
    expect(await carriedOut({ mode: 'Ingress' })).toEqual([]);
    const back = await carriedOut({ mode: 'Disabled' });
    const all = [...both('delete HTTPRoute'), ...both('delete Ingress')];
    expect(back).toEqual(named(all));
  });
});
