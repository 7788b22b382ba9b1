import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { permissions } from '../../operator/permissions.ts';
import { type KubeObject, kustomize, run } from '../config/rendered.ts';
import { projectRoot } from '../house/source-files.ts';
import { least } from '../operator/image-service/samples.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { useDatabase } from '../support/database.ts';
import { startKillProxies } from '../support/kill-proxies.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import {
  type OperatorProcess,
  permitOperator,
  startOperator,
} from '../support/operator-process.ts';
import { makeFile } from '../support/rows.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { until } from '../support/until.ts';

const { db, url } = useDatabase();
const keys = newSealingKey();
const GROUP = '/apis/tintype.dev/v1alpha1/namespaces/default';

// A separate control plane: it gets the definitions of two releases.
let plane: ControlPlane;
const running: OperatorProcess[] = [];

beforeAll(async () => {
  plane = await startControlPlane();
}, 300_000);

afterAll(async () => {
  for (const each of running.splice(0)) await each.stop();
  await plane?.stop();
});

const previous = join(projectRoot, 'test/cluster/previous/install.yaml');

function kubectl(args: readonly string[], input?: string): string {
  return run('kubectl', ['--kubeconfig', join(plane.folder, 'admin.kubeconfig'), ...args], input);
}

/** Applies manifests as `make install` does. */
function install(yaml: string): void {
  const how = ['apply', '--server-side', '--force-conflicts', '--field-manager=tintype-install'];
  kubectl([...how, '--filename', '-'], yaml);
}

/**
 * The version of each object in these manifests, without changes of its status: the generation, or
 * the resource version of objects without one.
 */
function versions(objects: readonly KubeObject[]): Map<string, string> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
  const columns =
    'custom-columns=:kind,:metadata.name,:metadata.generation,:metadata.resourceVersion';
  const lines = kubectl(['get', '--filename', '-', '--no-headers', '--output', columns], list);
  return new Map(
    lines
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/))
      .map(([kind, name, generation = '', version = '']) => {
        return [`${kind} ${name}`, generation === '<none>' ? version : generation];
      }),
  );
}

function nameOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}

const projectRef = { name: 'shop' };
const samples = [
  [
    'Project',
    'projects',
    { routing: { perProject: 'Always' }, defaultWatermarkPresetRef: projectRef },
  ],
  ['SigningKey', 'signingkeys', { projectRef, rotationTrigger: '1' }],
  ['Recipe', 'recipes', { projectRef, transformChain: 'resize/640x480' }],
  ['WatermarkPreset', 'watermarkpresets', { projectRef, fileSlug: 'logo.png' }],
  ['ImageService', 'imageservices', least],
] as const;

type Live = {
  metadata: { name: string; managedFields: unknown };
  status?: { conditions?: { type: string; reason: string }[] };
};

async function list(path: string): Promise<Live[]> {
  return ((await kubeOk(plane, { path })) as { items: Live[] }).items;
}

/** The resources and their routes as stored, including who wrote what and when. */
async function state(): Promise<Live[]> {
  const routes = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
  const paths = [...samples.map(([, plural]) => `${GROUP}/${plural}`), routes];
  return (await Promise.all(paths.map(list))).flat();
}

type Through = Pick<Awaited<ReturnType<typeof startKillProxies>>, 'plane' | 'database_url'>;

async function start(through: Through): Promise<OperatorProcess> {
  const operator = await startOperator(through.plane, {
    ...{ POD_NAMESPACE: 'default', TINTYPE_WATCH_NAMESPACES: 'default' },
    ...{ TINTYPE_DATABASE_URL: through.database_url, TINTYPE_KEY_ENCRYPTION_KEYS: keys },
  });
  running.push(operator);
  return operator;
}

/**
 * Waits until the operator has examined each kind, then stops it, so that it releases its lease.
 */
async function lookedAndGone(operator: OperatorProcess): Promise<void> {
  await until(async () => {
    const printed = await (await fetch(`${operator.watched}/metrics`)).text();
    for (const [kind] of samples) {
      expect(printed).toMatch(
        new RegExp(`^controller_runtime_reconcile_total\\{controller="${kind}".*\\} [1-9]`, 'm'),
      );
    }
  });
  operator.child.kill('SIGTERM');
  await once(operator.child, 'exit');
}

async function settle(): Promise<void> {
  await until(async () => {
    const projects = await db.query<{ project_id: string }>('select project_id from projects');
    expect(projects).toHaveLength(1);
    const [{ project_id = '' } = {}] = projects;
    const files = await db.query('select from files');
    if (files.length === 0) await makeFile(db, { project_id }, { file_slug: 'logo.png' });
  });
  await until(async () => {
    const reasons = (await state()).flatMap(({ status }) =>
      (status?.conditions ?? []).filter(({ type }) => type === 'Ready').map(({ reason }) => reason),
    );
    expect(reasons.filter((each) => each === 'InSync')).toHaveLength(4);
  });
}

/** The objects of the current manifests that the previous release has too. */
function installedBefore(older: readonly KubeObject[]): KubeObject[] {
  const names = new Set(older.map(nameOf));
  return kustomize('default').filter((each) => names.has(nameOf(each)));
}

// Only the manifests of the previous release are available, not its operator, so the current
// operator writes the initial state.
it('an upgrade from the previous release writes only what differs, only once, and its operator nothing if all is in sync', async () => {
  const before = await readFile(previous, 'utf8');
  const older = parseAllDocuments(before).map((each) => each.toJS() as KubeObject);
  install(before);
  await permitOperator(plane, 'default', Object.values(permissions).flat());
  for (const [kind, plural, spec] of samples) {
    await kubeApply(plane, `${GROUP}/${plural}/shop`, {
      ...{ apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name: 'shop' }, spec },
    });
  }
  const operator = await start({ plane, database_url: url() });
  await settle();
  await lookedAndGone(operator);
  const resources = await state();
  expect(resources.length).toBeGreaterThan(samples.length);
  const first = versions(installedBefore(older));

  const current = kustomize('default');
  const yaml = run('kubectl', ['kustomize', 'config/default']);
  install(yaml);
  expect(await state()).toEqual(resources);
  const second = versions(current);
  const isSame = (object: KubeObject) =>
    older.some((other) => JSON.stringify(other) === JSON.stringify(object));
  const kept = current.filter(isSame).map(nameOf);
  expect(kept.length).toBeGreaterThan(10);
  expect(kept.filter((name) => second.get(name) !== first.get(name))).toEqual([]);

  install(yaml);
  expect(versions(current)).toEqual(second);
  expect(await state()).toEqual(resources);
  for (const _start of ['after the upgrade', 'again']) {
    const proxies = await startKillProxies({ plane, database_url: url() });
    await lookedAndGone(await start(proxies));
    await proxies.close();
    expect(proxies.writes).toEqual([]);
    expect(await state()).toEqual(resources);
  }
}, 300_000);
