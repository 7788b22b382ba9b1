import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routeTypes } from '../../operator/routes/live-route.ts';
import { createSealing } from '../../runtime/platform/sealing.ts';
import { least } from '../operator/image-service/samples.ts';
import { type ControlPlane, createNamespace, startControlPlane } from '../support/control-plane.ts';
import { crashEverywhere } from '../support/crash-everywhere.ts';
import {
  type CrashingOperator,
  createCrashingOperator,
  type Through,
} from '../support/crashing-operator.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk, kubeRelease } from '../support/kube-request.ts';
import { lastingIn } from '../support/lasting.ts';
import { installHttpRoutes, judgedBy } from '../support/optional-definitions.ts';
import { lookAtRoutes } from '../support/route-looks.ts';
import { sampleOf } from '../support/sample.ts';
import { lookAtTenants } from '../support/tenant-looks.ts';
import { declareAt, liveAt, pathOf } from '../support/tenant-places.ts';

const { db } = useDatabase();
const sealing = createSealing([{ id: 'k1', key: randomBytes(32) }]);

// A separate control plane, so that other tests do not find a Gateway API.
let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane({ components: [] });
  await installHttpRoutes(plane);
}, 300_000);

afterAll(() => plane?.stop());

/** Scenarios run one after the other, because an operator examines all projects of the database. */
type Place = { teams: string; images: string };

const shopOf = ({ teams }: Place) => ({ namespace: teams, name: 'shop' });
const serviceOf = ({ images }: Place) =>
  `/apis/tintype.dev/v1alpha1/namespaces/${images}/imageservices/main`;

const modes = {
  Ingress: { mode: 'Ingress' },
  Gateway: { mode: 'Gateway', gatewayRef: { name: 'edge' } },
} as const;
type Mode = keyof typeof modes;

function lead(place: Place, mode: Mode) {
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService' };
  const spec = { ...least, routing: modes[mode] };
  return kubeApply(plane, serviceOf(place), { ...head, metadata: { name: 'main' }, spec });
}

function declare(place: Place, ...customDomains: string[]) {
  const perProject = customDomains.length === 0 ? 'CustomDomainsOnly' : 'Always';
  const Project = { staff: { customDomains }, routing: { perProject } };
  return declareAt(plane, shopOf(place), { Project });
}

/** As if the database had been recreated. */
const forgetProjects = () => db.query('truncate projects cascade');

async function declared(mode: Mode): Promise<Place> {
  await forgetProjects();
  const place = { teams: await createNamespace(plane), images: await createNamespace(plane) };
  await lead(place, mode);
  await declare(place, 'one.example', 'two.example');
  return place;
}

function operatorOf(place: Place): CrashingOperator {
  const resources = [{ kind: 'Project' as const, path: pathOf('Project', shopOf(place)) }];
  const start = (through: Through) => {
    const looks = [
      lookAtTenants({ plane, sealing, resources }, through),
      lookAtRoutes(place, through),
    ];
    return async () => {
      for (const look of looks) await look();
    };
  };
  return createCrashingOperator({ plane, db, start, others: () => admitAll(place) });
}

const statuses: Record<Mode, object> = {
  Ingress: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
  Gateway: judgedBy({ name: 'edge' }),
};

/** Admits all routes, as an ingress controller and a Gateway do. */
async function admitAll({ images }: Place): Promise<void> {
  for (const [mode, { apiVersion, plural }] of Object.entries(routeTypes)) {
    const path = `/apis/${apiVersion}/namespaces/${images}/${plural}`;
    const { items } = (await kubeOk(plane, { path })) as { items: Named[] };
    for (const { metadata } of items) {
      await kubeOk(plane, {
        ...{ method: 'PATCH', path: `${path}/${metadata.name}/status` },
        body: { status: statuses[mode as Mode] },
        content_type: 'application/merge-patch+json',
      });
    }
  }
}

type Named = { metadata: { name: string } };

async function outcome(place: Place): Promise<unknown> {
  const projects = await db.query<{ project_id: string; domains: string[] }>(
    `select project_id, status, owner_name, array(select domain from project_domains d
       where d.project_id = p.project_id order by position) as domains from projects p`,
  );
  const text = JSON.stringify({
    projects,
    routes: await lastingIn(plane, place.images, Object.values(routeTypes)),
    live: await liveAt(plane, 'Project', shopOf(place)),
  });
  return JSON.parse(text.replaceAll(projects[0]?.project_id ?? 'none', 'ID'));
}

/** Both modes write routes in the same way; every third change suffices for the second one. */
const CHANGES_OF: Record<Mode, number> = { Ingress: 1, Gateway: 3 };

/** Changes to a project whose routes are up to date. */
const changes = {
  'with other domains': (place: Place) => declare(place, 'three.example', 'one.example'),
  'without domains': (place: Place) => declare(place),
  'whose resource was deleted': (place: Place) =>
    kubeOk(plane, { method: 'DELETE', path: pathOf('Project', shopOf(place)) }),
  'whose database was recreated': forgetProjects,
  'that is in neither the cluster nor the database': async (place: Place) => {
    const path = pathOf('Project', shopOf(place));
    await kubeOk(plane, { method: 'DELETE', path });
    await kubeRelease(plane, path);
    await forgetProjects();
  },
  'whose ImageService was deleted': (place: Place) =>
    kubeOk(plane, { method: 'DELETE', path: serviceOf(place) }),
};

describe.each(['Ingress', 'Gateway'] as const)(
  'an operator that crashes at any write of routes by %s',
  (mode) => {
    const other = mode === 'Ingress' ? 'Gateway' : 'Ingress';
    const all = {
      ...changes,
      'that changes to the other kind of route': (place: Place) => lead(place, other),
    };

    it('creates the route of a project once', async () => {
      const begin = () => declared(mode);
      const { writes, outcome: found } = await crashEverywhere({
        ...{ begin, operatorOf, outcome, at_once: 1 },
      });
      const { kind, plural } = routeTypes[mode];
      expect(writes).toContain(`apply ${kind}`);
      expect(found).toMatchObject({ routes: { [plural]: [{}] }, projects: [{}] });
      expect(JSON.stringify(found)).toContain('Routed True Routed');
    }, 300_000);

    it.each(sampleOf(Object.entries(all), CHANGES_OF[mode]))(
      'brings the routes of a project %s to the same end',
      async (_, change) => {
        const begin = async () => {
          const place = await declared(mode);
          await operatorOf(place).run();
          await change(place);
          return place;
        };
        const { writes } = await crashEverywhere({ begin, operatorOf, outcome, at_once: 1 });
        expect(writes.length).toBeGreaterThan(0);
      },
      300_000,
    );
  },
);
