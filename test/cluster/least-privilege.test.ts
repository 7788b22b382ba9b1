import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Permission, permissions } from '../../operator/permissions.ts';
import { findOrganization } from '../../runtime/db/organizations.ts';
import { updateProjectDomains } from '../../runtime/db/project-domains.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { type Servers, startServers } from '../contract/support/servers.ts';
import { least } from '../operator/image-service/samples.ts';
import { type ControlPlane, createNamespace, startControlPlane } from '../support/control-plane.ts';
import { useDatabase } from '../support/database.ts';
import { usual } from '../support/installation-cluster.ts';
import { type KubeFaultProxy, startKubeFaultProxy } from '../support/kube-fault-proxy.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import {
  type OperatorProcess,
  permitOperator,
  startOperator,
} from '../support/operator-process.ts';
import { installHttpRoutes, judgedBy } from '../support/optional-definitions.ts';
import { type PodPlayer, playPods } from '../support/pod-player.ts';
import { makeFile } from '../support/rows.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const sealing = newSealingKey();

// A separate control plane: it has HTTPRoutes and, like OpenShift, checks who may set owner
// references.
let plane: ControlPlane;
let recorder: KubeFaultProxy;
let operator: OperatorProcess;
let player: PodPlayer;
let servers: Servers;
let team: string;
let home: string;

beforeAll(async () => {
  const plugins = 'OwnerReferencesPermissionEnforcement';
  [plane, servers] = await Promise.all([startControlPlane({ plugins }), startServers()]);
  await installHttpRoutes(plane);
  recorder = await startKubeFaultProxy(plane);
  team = await createNamespace(plane);
  home = await createNamespace(plane);
  await permitOperator(plane, team, permissions.tenant);
  const { own, delivery, runtime } = permissions;
  await permitOperator(plane, home, [...own, ...delivery, ...runtime]);
  player = playPods(plane, home, usual);
  operator = await startOperator(recorder, {
    TINTYPE_DATABASE_URL: url(),
    TINTYPE_KEY_ENCRYPTION_KEYS: sealing,
    TINTYPE_WATCH_NAMESPACES: team,
    POD_NAMESPACE: home,
  });
  await liveThrough();
  operator.child.kill('SIGTERM');
  await until(async () => expect(endOf(operator)).toMatchObject({ exitCode: 0, warned: [] }));
}, 600_000);

afterAll(async () => {
  await operator?.stop();
  await player?.stop();
  await recorder?.close();
  await plane?.stop();
  await servers?.stop();
});

/** How the process ended, and its last log messages, in case it does not end. */
function endOf({ child: { exitCode, signalCode }, said }: OperatorProcess) {
  const warned = said.filter(({ msg }) => msg.includes('holds the process'));
  return { exitCode, signalCode, warned, last: said.slice(-8).map(({ msg }) => msg) };
}

const tintype = '/apis/tintype.dev/v1alpha1';
const plurals: Record<string, string> = {
  Project: 'projects',
  SigningKey: 'signingkeys',
  WatermarkPreset: 'watermarkpresets',
  Recipe: 'recipes',
  ImageService: 'imageservices',
};

function path(kind: string, name = 'shop'): string {
  const namespace = kind === 'ImageService' ? home : team;
  return `${tintype}/namespaces/${namespace}/${plurals[kind]}/${name}`;
}

function apply(kind: string, spec: object) {
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name: 'shop' } };
  return kubeApply(plane, path(kind), { ...head, spec });
}

async function reason(kind: string, type = 'Ready'): Promise<string | undefined> {
  const { status } = (await kubeOk(plane, { path: path(kind) })) as {
    status: { conditions?: { type: string; reason: string }[] };
  };
  return status.conditions?.find((each) => each.type === type)?.reason;
}

function untilReason(kind: string, wanted: string, type = 'Ready'): Promise<void> {
  return until(async () => expect(await reason(kind, type)).toBe(wanted));
}

async function status(at: string): Promise<number> {
  return (await kubeRequest(plane, { path: at })).status;
}

const projectRef = { name: 'shop' };
const custom = { customDomains: ['img.shop.example'] };

function callback(secretName: string, rotationTrigger = '1') {
  return { url: 'https://shop.example/hook', secretName, rotationTrigger };
}

async function versionOf(name: string): Promise<string | undefined> {
  const { body } = await kubeRequest(plane, { path: `/api/v1/namespaces/${team}/secrets/${name}` });
  return (body as { metadata: { resourceVersion?: string } }).metadata.resourceVersion;
}

/** Rotates the callback key in its Secret, then moves it to another Secret. */
async function callThrough(): Promise<void> {
  const first = await versionOf('first-hook');
  await apply('Project', { staff: custom, callback: callback('first-hook', '2') });
  await until(async () => expect(await versionOf('first-hook')).not.toBe(first));
  await apply('Project', { staff: custom, callback: callback('second-hook', '2') });
  await until(async () => expect(await versionOf('first-hook')).toBeUndefined());
}

function secret(name: string, stringData: Record<string, string>) {
  const at = `/api/v1/namespaces/${home}/secrets`;
  return kubeOk(plane, { method: 'POST', path: at, body: { metadata: { name }, stringData } });
}

/** Creates the Secrets that the minimal ImageService names. */
async function makeSecrets(): Promise<void> {
  const text = () => randomBytes(32).toString('hex');
  await secret('db', { url: url() });
  const { TINTYPE_AMQP_URL = '', ...storage } = await servers.environment();
  await secret('mq', { url: TINTYPE_AMQP_URL });
  await secret('s3', storage);
  await secret('keys', {
    TINTYPE_KEY_ENCRYPTION_KEYS: sealing,
    TINTYPE_TOKEN_KEYS: newSealingKey('t1'),
    TINTYPE_REQUEST_SIGNING_SECRET: text(),
    TINTYPE_STORAGE_EVENT_SECRET: text(),
  });
}

/** Exercises all that the operator does for tenants, routes and an installation. */
async function liveThrough(): Promise<void> {
  await makeSecrets();
  const plansConfigMapRef = { name: 'plans', key: 'plans.yaml' };
  await kubeApply(plane, `/api/v1/namespaces/${home}/configmaps/plans`, {
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'plans' } },
    data: { 'plans.yaml': 'trial: { credits: 7, granted: once, storage_bytes: 1000000 }' },
  });
  await apply('ImageService', { ...least, plansConfigMapRef, routing: { mode: 'Ingress' } });
  await untilReason('ImageService', 'Available', 'ApiAvailable');
  await apply('Project', { staff: custom, callback: callback('first-hook') });
  await apply('SigningKey', { projectRef });
  await apply('Recipe', { projectRef, transformChain: 'resize/640x480' });
  await apply('WatermarkPreset', { projectRef, fileSlug: 'logo.png' });
  await untilReason('Recipe', 'InSync');
  await untilReason('SigningKey', 'InSync');
  await untilReason('WatermarkPreset', 'FileNotFound');
  const project = await findProjectBySlug(db, 'shop');
  if (project === undefined) throw new Error('no project');
  // The credits come from the plans of the installation, which the operator reads as the API does.
  const organization = await findOrganization(db, project.organization_id);
  expect(organization).toMatchObject({ namespace: team, credit_balance: 7 });
  await makeFile(db, project, { file_slug: 'logo.png' });
  await untilReason('WatermarkPreset', 'InSync');
  await untilReason('Project', 'NotAdmitted', 'Routed');
  for (const reason of ['SpecInvalid', 'InSync', 'SpecInvalid', 'InSync']) {
    const url = reason === 'InSync' ? {} : { url: 'https://[::0001]' };
    const hook = { ...callback('first-hook'), ...url };
    await apply('Project', { staff: custom, callback: hook });
    await untilReason('Project', reason);
  }
  await callThrough();
  await routeThrough(project.project_id);
  for (const kind of ['WatermarkPreset', 'Recipe', 'SigningKey', 'Project']) {
    await kubeOk(plane, { method: 'DELETE', path: path(kind) });
    await until(async () => expect(await status(path(kind))).toBe(404));
  }
}

async function routeThrough(project_id: string): Promise<void> {
  const name = 'shop-project-shop';
  const ingress = `/apis/networking.k8s.io/v1/namespaces/${home}/ingresses/${name}`;
  const httpRoutes = `/apis/gateway.networking.k8s.io/v1/namespaces/${home}/httproutes`;
  const httpRoute = `${httpRoutes}/${name}`;
  await until(async () => expect(await status(ingress)).toBe(200));
  const routing = { mode: 'Gateway', gatewayRef: { name: 'edge' } };
  await apply('ImageService', { ...least, routing });
  await until(async () => expect(await status(httpRoute)).toBe(200));
  // A different controller writes the route of the API, independently.
  await until(async () => expect(await status(`${httpRoutes}/shop-api`)).toBe(200));
  await kubeOk(plane, {
    ...{ method: 'PATCH', path: `${httpRoute}/status` },
    body: { status: judgedBy(routing.gatewayRef) },
    content_type: 'application/merge-patch+json',
  });
  await until(async () => expect(await status(ingress)).toBe(404));
  await apply('Project', { staff: { customDomains: [] }, callback: callback('second-hook', '2') });
  await db.transaction((tx) => updateProjectDomains(tx, { project_id, domains: [] }));
  await until(async () => expect(await status(httpRoute)).toBe(404));
}

/** The permissions that the API server checks for a request, given the status of its response. */
function rightsOf({ method, path: asked, status: said }: KubeFaultProxy['requests'][number]) {
  const { pathname, searchParams } = new URL(asked, plane.url);
  const found =
    /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/[^/]+)?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
      pathname,
    );
  if (found === null) throw new Error(`not told from its path: ${asked}`);
  const [, group = '', resource, name, subresource] = found;
  const what = `${group}/${resource}${subresource === undefined ? '' : `/${subresource}`}`;
  const many = searchParams.has('watch') ? 'watch' : 'list';
  const verbs = {
    GET: name === undefined ? many : 'get',
    POST: 'create',
    PUT: 'update',
    PATCH: 'patch',
    DELETE: 'delete',
  };
  const verb = verbs[method as keyof typeof verbs];
  // Applying an object that does not exist requires permission to create it.
  const made = method === 'PATCH' && said === 201 ? [`create ${what}`] : [];
  return [`${verb} ${what}`, ...made];
}

function rightsIn(table: readonly Permission[]): string[] {
  return table.flatMap(({ apiGroup, resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${apiGroup}/${resource}`)),
  );
}

const checked = 'asked by the API server itself, of whoever makes what holds up its owner';
const outgrown = 'what a later version makes no more is taken away';
const keda = 'where KEDA is installed, which it is not here';
const scaled = 'workers follow the depth of a queue, which is empty here';

/** Permissions that this test cannot exercise without more servers, and why they are granted. */
const beyond: readonly [right: RegExp, reason: string][] = [
  [/^update tintype\.dev\/imageservices\/finalizers$/, checked],
  [/^delete (apps\/deployments|batch\/(cron)?jobs|\/services|\/serviceaccounts)$/, outgrown],
  [/^delete (policy\/poddisruptionbudgets|networking\.k8s\.io\/networkpolicies)$/, outgrown],
  [/ keda\.sh\//, keda],
  [/^patch (apps\/deployments\/scale|\/pods)$/, scaled],
];

describe('the permissions of the operator', () => {
  it('suffice for everything that it does, and are all used', () => {
    expect(recorder.requests.filter((each) => each.status === 403)).toEqual([]);
    const granted = new Set(Object.values(permissions).flatMap((table) => rightsIn(table)));
    const used = new Set(recorder.requests.flatMap(rightsOf));
    expect([...used].filter((right) => !granted.has(right))).toEqual([]);
    const isBeyond = (right: string) => beyond.some(([pattern]) => pattern.test(right));
    const idle = [...granted].filter((right) => !used.has(right) && !isBeyond(right));
    expect(idle).toEqual([]);
  });
});
