import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planRoutes } from '../../operator/routes/plan-routes.ts';
import { type ProbeHost, probeHost } from '../../operator/routes/probe-hosts.ts';
import { changeProjectDomains } from '../../runtime/actions/change-project-domains.ts';
import { createDatabase, type Database } from '../../runtime/db/client.ts';
import { findProject, updateProject } from '../../runtime/db/projects.ts';
import { least } from '../operator/image-service/samples.ts';
import { useDatabase } from '../support/database.ts';
import { kubeForbid } from '../support/kube-quota.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { watchForRoutes } from '../support/route-leader.ts';
import { makeProject } from '../support/rows.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { startFaultProxy } from '../support/tcp-fault-proxy.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;

type Condition = { type: string; status: string; reason: string; message: string };
type Ingress = {
  metadata: { resourceVersion: string; annotations: Record<string, string>; uid: string };
  spec: { rules: { host: string }[]; tls?: unknown };
};

let teams: string;
let images: string;
let routes: ReturnType<typeof watchForRoutes>;
/** The result of probing a host. */
let answers: ProbeHost = async () => undefined;

beforeAll(async () => {
  teams = await cluster.namespace();
  images = await cluster.namespace();
  routes = watchForRoutes(plane(), { teams, images });
  await kubeApply(plane(), servicePath(), service({}));
}, 300_000);

afterAll(() => routes.stop());

type Leading = { through?: Database; sweep_ms?: number };

function led(work: () => Promise<void>, { through = db, ...how }: Leading = {}): Promise<void> {
  const probe: ProbeHost = (address, signal) => answers(address, signal);
  return routes.lead({ db: through, probe, ...how }, work);
}

function servicePath(name = 'main') {
  return `/apis/tintype.dev/v1alpha1/namespaces/${images}/imageservices/${name}`;
}

function service(spec: object, name = 'main') {
  const metadata = { name, namespace: images };
  return {
    apiVersion: 'tintype.dev/v1alpha1',
    kind: 'ImageService',
    metadata,
    spec: { ...least, ...spec },
  };
}

const ingresses = () => `/apis/networking.k8s.io/v1/namespaces/${images}/ingresses`;
const projects = () => `/apis/tintype.dev/v1alpha1/namespaces/${teams}/projects`;

/** As the API creates it, with custom domains as staff sets them. */
async function madeByApi(...domains: string[]) {
  const project = await makeProject(db, { project_slug: slug() });
  await setDomains(project.project_id, domains);
  return project;
}

async function setDomains(project_id: string, domains: string[]): Promise<void> {
  await db.transaction(async (tx) => {
    const project = await findProject(tx, project_id);
    if (project !== undefined) await changeProjectDomains(tx, project, domains);
  });
}

/** As the operator creates it: a resource, and a row that it owns. */
async function declared(spec: object, ...domains: string[]) {
  const project = await madeByApi(...domains);
  const { project_slug: name, project_id } = project;
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Project', metadata: { name } };
  const made = await kubeApply(plane(), `${projects()}/${name}`, { ...head, spec });
  const owner_uid = (made['metadata'] as { uid: string }).uid;
  const changes = {
    owner_uid,
    owner_namespace: teams,
    owner_name: name,
    owner_deletion_policy: 'suspend' as const,
  };
  await db.transaction((tx) => updateProject(tx, { project_id, changes }));
  await sayThatRowsAreThere(name);
  return project;
}

/** Marks the rows as written, as the controller of projects does: routes come after rows. */
async function sayThatRowsAreThere(name: string): Promise<void> {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const synced = { type: 'Synced', status: 'True', reason: 'InSync', message: '' };
  const status = { conditions: [{ ...synced, lastTransitionTime }] };
  const path = `${projects()}/${name}/status`;
  const content_type = 'application/merge-patch+json';
  await kubeOk(plane(), { method: 'PATCH', path, body: { status }, content_type });
}

function slug(): string {
  return `p${randomBytes(5).toString('hex')}`;
}

function domain(): string {
  return `${slug()}.example`;
}

async function ingress(name: string): Promise<Ingress | undefined> {
  const { status, body } = await kubeRequest(plane(), { path: `${ingresses()}/${name}` });
  return status === 200 ? (body as Ingress) : undefined;
}

function routeOf({ project_slug }: { project_slug: string }) {
  return ingress(`main-project-${project_slug}`);
}

async function hostsOf(project: { project_slug: string }): Promise<string[] | undefined> {
  return (await routeOf(project))?.spec.rules.map(({ host }) => host);
}

/** Gives a route an address, as an ingress controller does. */
async function admit(name: string): Promise<void> {
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
  const path = `${ingresses()}/${name}/status`;
  const content_type = 'application/merge-patch+json';
  await kubeOk(plane(), { method: 'PATCH', path, body: { status }, content_type });
}

async function routed({ project_slug }: { project_slug: string }): Promise<Condition | undefined> {
  const { status } = (await kubeOk(plane(), { path: `${projects()}/${project_slug}` })) as {
    status: { conditions?: Condition[] };
  };
  return status.conditions?.find(({ type }) => type === 'Routed');
}

function untilReason(project: { project_slug: string }, reason: string): Promise<void> {
  return until(async () => expect((await routed(project))?.reason).toBe(reason));
}

/** The route of all default hosts, which an ImageService owns. */
async function wildcard(): Promise<void> {
  const name = 'main-delivery';
  const labels = { 'app.kubernetes.io/managed-by': 'tintype-operator' };
  const backend = { service: { name, port: { name: 'http' } } };
  const http = { paths: [{ path: '/', pathType: 'Prefix', backend }] };
  const spec = { rules: [{ host: '*.img.example.com', http }] };
  const head = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name, labels } };
  await kubeApply(plane(), `${ingresses()}/${name}`, { ...head, spec });
  await admit(name);
}

async function count(counted: RegExp): Promise<number> {
  return [...(await routes.metrics.print()).matchAll(counted)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
}
const countWrites = () =>
  count(/^rest_client_requests_total\{.*method="(?:PATCH|POST|PUT|DELETE)".*\} (\d+)$/gm);
const countPasses = () => count(/^controller_runtime_reconcile_total\{.*\} (\d+)$/gm);
const countFailures = () => count(/^controller_runtime_reconcile_errors_total\{.*\} (\d+)$/gm);

describe('the routes of projects', () => {
  it('follow the domains of a project that was made through the API, and are deleted with the last one', async () => {
    const [first, second] = [domain(), domain()];
    await led(async () => {
      const project = await madeByApi(first);
      await until(async () => expect(await hostsOf(project)).toEqual([first]));
      await setDomains(project.project_id, [first, second]);
      await until(async () => expect(await hostsOf(project)).toEqual([first, second]));
      await setDomains(project.project_id, []);
      await until(async () => expect(await hostsOf(project)).toBeUndefined());
    });
  });

  it('wait for a database that is away, without a failed pass', async () => {
    const address = new URL(url());
    const proxy = await startFaultProxy({ host: address.hostname, port: Number(address.port) });
    address.port = String(proxy.port);
    const faulty = createDatabase({ url: address.href, connectTimeoutMs: 1500 });
    const host = domain();
    const project = await madeByApi(host);
    await led(
      async () => {
        await until(async () => expect(await hostsOf(project)).toEqual([host]));
        proxy.set({ kind: 'refuse' });
        proxy.cut();
        const [passes, failures] = [await countPasses(), await countFailures()];
        const path = `${ingresses()}/main-project-${project.project_slug}`;
        await kubeOk(plane(), { method: 'DELETE', path });
        await until(async () => expect(await countPasses()).toBeGreaterThan(passes));
        expect(await countFailures()).toBe(failures);
        proxy.set({ kind: 'none' });
        await until(async () => expect(await hostsOf(project)).toEqual([host]));
      },
      { through: faulty },
    );
    await faulty.close();
    await proxy.close();
  });

  it('exist for a suspended project too', async () => {
    const host = domain();
    const project = await madeByApi(host);
    const changes = { status: 'suspended', suspended_by: 'owner' } as const;
    await db.transaction((tx) => updateProject(tx, { project_id: project.project_id, changes }));
    await led(() => until(async () => expect(await hostsOf(project)).toEqual([host])));
  });

  it('are restored, and keep what others added', async () => {
    const host = domain();
    const project = await madeByApi(host);
    const path = `${ingresses()}/main-project-${project.project_slug}`;
    const content_type = 'application/merge-patch+json';
    const patch = (body: object) =>
      kubeOk(plane(), { method: 'PATCH', path: `${path}?fieldManager=others`, body, content_type });
    await led(async () => {
      await until(async () => expect(await hostsOf(project)).toEqual([host]));
      await patch({ metadata: { annotations: { 'example.com/by': 'others' } } });
      const [rule] = (await routeOf(project))?.spec.rules ?? [];
      await patch({ spec: { rules: [{ ...rule, host: 'other.example' }] } });
      await until(async () => expect(await hostsOf(project)).toEqual([host]));
    });
    expect((await routeOf(project))?.metadata.annotations).toMatchObject({
      'example.com/by': 'others',
    });
  });

  it('are not written over an object of somebody else', async () => {
    const project = await declared({}, domain());
    const name = `main-project-${project.project_slug}`;
    const spec = {
      defaultBackend: { service: { name: 'web', port: { number: 80 } } },
      rules: [{ host: 'web.example' }],
    };
    const theirs = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name },
      spec,
    };
    await kubeApply(plane(), `${ingresses()}/${name}`, theirs);
    await led(() => untilReason(project, 'RouteTaken'));
    expect((await ingress(name))?.spec).toMatchObject(spec);
    await setDomains(project.project_id, []);
  });

  it('are deleted if their project lost its domains while nobody led', async () => {
    const project = await madeByApi(domain());
    await led(() => until(async () => expect(await routeOf(project)).toBeDefined()));
    await setDomains(project.project_id, []);
    await led(() => until(async () => expect(await routeOf(project)).toBeUndefined()));
  });

  it('are not written again by passes that find them as they should be', async () => {
    const project = await madeByApi(domain());
    await led(() => until(async () => expect(await routeOf(project)).toBeDefined()));
    const before = (await routeOf(project))?.metadata.resourceVersion;
    const other = domain();
    const writes = await countWrites();
    await led(async () => {
      // The turn that wrote this route has examined all the others.
      const late = await madeByApi(other);
      await until(async () => expect(await hostsOf(late)).toEqual([other]));
    });
    expect((await routeOf(project))?.metadata.resourceVersion).toBe(before);
    expect(await countWrites()).toBe(writes + 1);
  });
});

describe('the Routed condition of a Project', () => {
  it('is True once the ingress controller has admitted the route, and not before', async () => {
    const project = await declared({}, domain());
    await led(async () => {
      await untilReason(project, 'NotAdmitted');
      await admit(`main-project-${project.project_slug}`);
      await wildcard();
      await untilReason(project, 'Routed');
      expect(await routed(project)).toMatchObject({ status: 'True' });
    });
  });

  it('is corrected immediately if somebody else wrote it, even if nothing had to be reported before', async () => {
    const project = await declared({}, domain());
    const { project_slug: name } = project;
    const path = `${projects()}/${name}/status`;
    const content_type = 'application/merge-patch+json';
    const falsify = async (change: Partial<Condition>) => {
      const { status } = (await kubeOk(plane(), { path: `${projects()}/${name}` })) as {
        status: { conditions: Condition[] };
      };
      const conditions = status.conditions.map((each) =>
        each.type === 'Routed' ? { ...each, ...change } : each,
      );
      await kubeOk(plane(), {
        method: 'PATCH',
        path,
        body: { status: { conditions } },
        content_type,
      });
    };
    const rarely = { sweep_ms: 3_600_000 };
    await led(async () => {
      await untilReason(project, 'NotAdmitted');
      await falsify({ status: 'True', reason: 'Routed' });
      await untilReason(project, 'NotAdmitted');
      expect(await routed(project)).toMatchObject({ status: 'False' });
      const { message } = (await routed(project)) ?? {};
      await falsify({ message: 'by others' });
      await until(async () => expect((await routed(project))?.message).toBe(message));
    }, rarely);
    await led(async () => {
      // Once this one is reported, the first comparison is over, and it left `project` as it was.
      const other = await declared({}, domain());
      await untilReason(other, 'NotAdmitted');
      await falsify({ status: 'True', reason: 'Routed' });
      await untilReason(project, 'NotAdmitted');
    }, rarely);
  });

  it('is True for rules of its own, declared by routing.perProject', async () => {
    const project = await declared({ routing: { perProject: 'Always' } });
    const host = `${project.project_slug}.img.example.com`;
    await led(async () => {
      await until(async () => expect(await hostsOf(project)).toEqual([host]));
      await admit(`main-project-${project.project_slug}`);
      await untilReason(project, 'Routed');
    });
  });

  it('waits until delivery answers if a probe is declared', async () => {
    await wildcard();
    const project = await declared({ routing: { probe: 'Enabled' } });
    answers = async () => 'getaddrinfo ENOTFOUND';
    await led(async () => {
      await untilReason(project, 'NotAnswering');
      answers = async () => undefined;
      await untilReason(project, 'Answering');
    });
  });

  it('names a host that belongs to the API or to uploads, and no route has it', async () => {
    const [uploads, free] = [domain(), domain()];
    const gate = await declared({ routing: { perProject: 'Always' } });
    const other = await declared({}, free, uploads);
    const baseURL = `https://${gate.project_slug}.img.example.com`;
    await led(async () => {
      await until(async () => expect(await hostsOf(other)).toEqual([free, uploads]));
      await until(async () => expect(await routeOf(gate)).toBeDefined());
      const own = service({ baseURL, uploadBaseURL: `https://${uploads}` });
      await kubeApply(plane(), servicePath(), own);
      await untilReason(gate, 'HostTaken');
      await untilReason(other, 'HostTaken');
      expect(await routeOf(gate)).toBeUndefined();
      expect(await hostsOf(other)).toEqual([free]);
      expect(await routed(other)).toMatchObject({
        status: 'False',
        message: expect.stringContaining(`'${uploads}' is the host of`),
      });
      await kubeApply(plane(), servicePath(), service({}));
      await until(async () => expect(await hostsOf(other)).toEqual([free, uploads]));
    });
  });

  it('names the declared domain that the project was refused', async () => {
    const customDomains = [domain()];
    const project = await declared({ staff: { customDomains } });
    await led(() => untilReason(project, 'NotAccepted'));
    expect((await routed(project))?.message).toContain(`'${customDomains[0]}'`);
  });

  it('comes without a route while its Project is plan-only, and the route is planned', async () => {
    const project = await declared({});
    const { project_slug: name, project_id } = project;
    const path = `${projects()}/${name}`;
    const annotate = (value: string | null) =>
      kubeOk(plane(), {
        ...{ method: 'PATCH', path, content_type: 'application/merge-patch+json' },
        body: { metadata: { annotations: { 'tintype.dev/plan-only': value } } },
      });
    await annotate('true');
    const host = domain();
    await setDomains(project_id, [host]);
    await led(async () => {
      // The turn that wrote the other route has examined this project.
      const other = await madeByApi(domain());
      await until(async () => expect(await routeOf(other)).toBeDefined());
      expect(await routeOf(project)).toBeUndefined();
      const object = routes.caches.get('Project', `${teams}/${name}`);
      const lines = object && (await planRoutes(object, { db, edges: routes.edges }));
      expect(lines).toEqual([`+ Ingress ${images}/main-project-${name}: ${host}`]);
      await annotate(null);
      await until(async () => expect(await hostsOf(project)).toEqual([host]));
    });
  });

  it('reports that the API server refuses the route, until it no longer does', async () => {
    const counted = 'count/ingresses.networking.k8s.io';
    const allow = await kubeForbid(plane(), images, counted);
    const project = await declared({}, domain());
    await led(async () => {
      await untilReason(project, 'RouteRefused');
      expect((await routed(project))?.message).toMatch(
        /the API server refuses it: .*exceeded quota/,
      );
      await allow();
      await untilReason(project, 'NotAdmitted');
    });
  });

  it('follows the ImageService that has the database, even if it is younger', async () => {
    const project = await declared({}, domain());
    await led(async () => {
      await until(async () => expect(await routeOf(project)).toBeDefined());
      await kubeApply(plane(), servicePath('younger'), service({}, 'younger'));
      const status = { databaseID: 'database-1' };
      const path = `${servicePath('younger')}/status`;
      const content_type = 'application/merge-patch+json';
      await kubeOk(plane(), { method: 'PATCH', path, body: { status }, content_type });
      const name = `younger-project-${project.project_slug}`;
      await until(async () => expect(await ingress(name)).toBeDefined());
      await until(async () => expect(await routeOf(project)).toBeUndefined());
      await kubeOk(plane(), { method: 'DELETE', path: servicePath('younger') });
      await until(async () => expect(await routeOf(project)).toBeDefined());
    });
  });

  it('reports an ImageService that cannot be read, and every route is left as it is', async () => {
    const project = await declared({}, domain());
    await led(async () => {
      await until(async () => expect(await routeOf(project)).toBeDefined());
      const before = await routeOf(project);
      // A host that the API server accepts and the operator rejects.
      const spec = { baseURL: 'https://api.0x1' };
      const content_type = 'application/merge-patch+json';
      await kubeOk(plane(), { method: 'PATCH', path: servicePath(), body: { spec }, content_type });
      await untilReason(project, 'ImageServiceInvalid');
      expect(await routeOf(project)).toEqual(before);
      await kubeApply(plane(), servicePath(), service({}));
      await untilReason(project, 'NotAdmitted');
    });
  });

  it('reports that there is no ImageService, and its routes are deleted', async () => {
    const project = await declared({}, domain());
    await led(async () => {
      await until(async () => expect(await routeOf(project)).toBeDefined());
      await kubeOk(plane(), { method: 'DELETE', path: servicePath() });
      await untilReason(project, 'NoImageService');
      await until(async () => expect(await routeOf(project)).toBeUndefined());
      await kubeApply(plane(), servicePath(), service({}));
      await until(async () => expect(await routeOf(project)).toBeDefined());
    });
  });
});

describe('probing a host', () => {
  const servers: Server[] = [];

  afterAll(() => {
    for (const server of servers) server.close();
  });

  async function serve(status: number, headers: Record<string, string>): Promise<URL> {
    const server = createServer((_request, response) =>
      response.writeHead(status, headers).end('{}'),
    );
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new URL(`http://localhost:${(server.address() as AddressInfo).port}/`);
  }

  const never = new AbortController().signal;
  const ours = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': 'r'.repeat(12),
  };

  it('accepts a refusal by delivery as an answer', async () => {
    expect(await probeHost(await serve(404, ours), never)).toBeUndefined();
  });

  it('accepts no other response', async () => {
    const page = { 'content-type': 'text/html' };
    expect(await probeHost(await serve(404, page), never)).toBe('something else answered 404');
    expect(await probeHost(await serve(200, ours), never)).toBe('something else answered 200');
    expect(await probeHost(new URL('http://localhost:1/'), never)).toContain('ECONNREFUSED');
  });
});
