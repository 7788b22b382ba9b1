// One of several watched namespaces is deleted, and the operator's Role in it with it. Spec: Project.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { readFences } from '../contract/support/blocks.ts';
import { createNamespace, kubeconfig } from '../support/control-plane.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk, kubeRequest } from '../support/kube-request.ts';
import { clusterShell } from '../support/kube-tools.ts';
import { permitOperator, startOperator } from '../support/operator-process.ts';
import { must } from '../support/rows.ts';
import { newSealingKey } from '../support/sealing-keys.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';
import { newSlug } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const { url } = useDatabase();
const cluster = useControlPlane();
const { plane } = cluster;

const granted = Object.values(permissions).flat();

/** Declares a project. Returns a function that reads the status of its Ready condition. */
async function declare(namespace: string) {
  const name = newSlug();
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects/${name}`;
  const head = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Project' };
  await kubeApply(plane(), path, { ...head, metadata: { name, namespace }, spec: {} });
  return async () => {
    const { status } = await kubeOk(plane(), { path });
    const { conditions = [] } = status as { conditions?: { type: string; status: string }[] };
    return conditions.find(({ type }) => type === 'Ready')?.status;
  };
}

const start = (namespace: string, other: string) =>
  startOperator(plane(), {
    ...{ POD_NAMESPACE: namespace, TINTYPE_WATCH_NAMESPACES: `${namespace},${other}` },
    ...{ TINTYPE_DATABASE_URL: url(), TINTYPE_KEY_ENCRYPTION_KEYS: newSealingKey() },
  });

it('an operator without a Role in one namespace serves the others, and that one once the Role is back', async () => {
  const [namespace, gone] = [await cluster.namespace(), await cluster.namespace()];
  await permitOperator(plane(), namespace, granted);
  const [isReady, isOtherReady] = [await declare(namespace), await declare(gone)];
  const operator = await start(namespace, gone);
  try {
    await until(async () => expect(await isReady()).toBe('True'));
    expect(await isOtherReady()).toBeUndefined();
    const refused = operator.said.filter(({ reason }) => reason === 'Forbidden');
    expect(JSON.stringify(refused)).toContain(`in the namespace \\"${gone}\\"`);
    expect((await fetch(`${operator.watched}/readyz`)).status).toBe(503);

    await permitOperator(plane(), gone, granted);
    await until(async () => expect(await isOtherReady()).toBe('True'));
    await until(async () => expect((await fetch(`${operator.watched}/readyz`)).ok).toBe(true));
  } finally {
    await operator.stop();
  }
}, 240_000);

it('a watched namespace is deleted in order or after its finalizers are removed, as documented', async () => {
  const [namespace, tidy, stuck] = [
    await cluster.namespace(),
    await createNamespace(plane()),
    await createNamespace(plane()),
  ];
  for (const each of [namespace, tidy, stuck]) await permitOperator(plane(), each, granted);
  const folder = await mkdtemp(join(tmpdir(), 'tintype-typed-'));
  await writeFile(join(folder, 'kubeconfig'), kubeconfig(plane(), 'admin'));
  const [tidily, byHand] = readFences('docs/kubernetes.md')
    .filter(
      ({ text }) => text.includes('--namespace team-a delete tintype') || text.includes('xargs'),
    )
    .map(({ text }) => text);
  const type = (script: string | undefined, team: string) =>
    promisify(execFile)('bash', ['-euc', must(script).replaceAll('team-a', team)], {
      env: clusterShell(folder, 'kubeconfig'),
    });
  const operator = await start(namespace, `${tidy},${stuck}`);
  try {
    for (const each of [tidy, stuck]) {
      const isReady = await declare(each);
      await until(async () => expect(await isReady()).toBe('True'));
    }
    await type(tidily, tidy);
    await kubeOk(plane(), { method: 'DELETE', path: `/api/v1/namespaces/${stuck}` });
    await until(async () => {
      const { status } = await kubeOk(plane(), { path: `/api/v1/namespaces/${stuck}` });
      expect(JSON.stringify(status)).toContain('tintype.dev/rows in 1 resource instances');
    });
    await type(byHand, stuck);
    await until(async () => {
      const { status } = await kubeRequest(plane(), { path: `/api/v1/namespaces/${stuck}` });
      expect(status).toBe(404);
    });
    const isReady = await declare(namespace);
    await until(async () => expect(await isReady()).toBe('True'));
  } finally {
    await operator.stop();
    await rm(folder, { recursive: true });
  }
}, 240_000);
