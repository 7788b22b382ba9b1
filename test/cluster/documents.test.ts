// Runs the commands in docs/kubernetes.md and docs/image-service.md as they are written, against a cluster.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { networkPolicy } from '../../operator/image-service/schema-edges.ts';
import { findProjectBySlug } from '../../runtime/db/projects.ts';
import { readFences, readShellBlocks } from '../contract/support/blocks.ts';
import { projectRoot } from '../contract/support/tintype.ts';
import { kubeconfig } from '../support/control-plane.ts';
import { useDatabase } from '../support/database.ts';
import { kubeApply, kubeOk } from '../support/kube-request.ts';
import { clusterShell } from '../support/kube-tools.ts';
import { must } from '../support/rows.ts';
import { newSlug, useTenantCluster } from '../support/tenant-cluster.ts';
import { until } from '../support/until.ts';

const KUBERNETES = 'docs/kubernetes.md';
const IMAGE_SERVICE = 'docs/image-service.md';
const { db } = useDatabase();
const { apply, led, namespace, plane, untilReason } = useTenantCluster({ db });
const blocks = [...readShellBlocks(KUBERNETES), ...readShellBlocks(IMAGE_SERVICE)];
const slug = newSlug();
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-typed-'));
  await writeFile(join(folder, 'kubeconfig'), kubeconfig(plane(), 'admin'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the first remaining block that starts with `begins`, with the names of this test. */
async function type(begins: string): Promise<string> {
  const at = blocks.findIndex((block) => block.startsWith(begins));
  const [block] = at < 0 ? [] : blocks.splice(at, 1);
  if (block === undefined) throw new Error(`no document says ${begins}`);
  const { stdout } = await promisify(execFile)('bash', ['-euc', spell(block)], {
    cwd: projectRoot,
    env: clusterShell(folder, 'kubeconfig'),
  });
  return stdout;
}

/**
 * Replaces the page's namespace with the test's, except Argo CD's, which its manifest also names.
 */
function spell(text: string): string {
  return text
    .replaceAll(
      /kubectl (?:--namespace tintype-system )?(?!--namespace)/g,
      `kubectl --namespace ${namespace()} `,
    )
    .replaceAll(/\bshop\b/g, slug);
}

async function keysOf(kind: string, name: string, where = namespace()): Promise<string[]> {
  const path = `/api/v1/namespaces/${where}/${kind}/${name}`;
  return Object.keys((await kubeOk(plane(), { path }))['data'] as object);
}

describe('the documentation for Kubernetes', { shuffle: false }, () => {
  it('creates Secrets with the keys that the operator and an installation need', async () => {
    await type('kubectl --namespace tintype-system create secret generic tintype ');
    expect(await keysOf('secrets', 'tintype')).toEqual([
      'TINTYPE_DATABASE_URL',
      'TINTYPE_KEY_ENCRYPTION_KEYS',
    ]);
    await type('kubectl create secret generic tintype-keys');
    expect(await keysOf('secrets', 'tintype-keys')).toHaveLength(4);
  });

  it('shows network policy fields that an ImageService accepts', () => {
    const [shown, ...others] = readFences(IMAGE_SERVICE).filter(
      ({ language }) => language === 'yaml',
    );
    expect(others).toEqual([]);
    const declared = parse(shown?.text ?? '');
    expect(networkPolicy.parse(declared.networkPolicy)).toEqual(declared.networkPolicy);
  });

  it('has a working query for the Routed condition', async () => {
    await apply('Project', slug, { displayName: 'Shop' });
    expect(
      await type(
        `kubectl get project shop --output jsonpath='{.status.conditions[?(@.type=="Routed`,
      ),
    ).toBe('');
  });

  it('sets a staff field by a patch that works', async () => {
    expect(await type('kubectl patch project shop --type=merge --patch')).toContain('patched');
  });

  it('asks for a plan, shows it and lets it happen', async () => {
    await led(async () => {
      await untilReason('Project', slug, 'InSync');
      await type('kubectl annotate project shop tintype.dev/plan-only=true');
      await untilReason('Project', slug, 'PlanOnly');
      const [shown] = readFences(KUBERNETES).filter(({ language }) => language === 'text');
      expect(`${await type('kubectl get project shop')}\n`).toBe(spell(shown?.text ?? ''));
      await type('kubectl annotate project shop tintype.dev/plan-only-');
      await until(async () =>
        expect(must(await findProjectBySlug(db, slug))).toMatchObject({
          name: 'Store',
          delivery_access: 'protected',
        }),
      );
    });
  });

  it('registers the kinds with Argo CD', async () => {
    const [namespaces, name] = ['/api/v1/namespaces', 'argocd-cm'];
    const head = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'argocd' } };
    await kubeApply(plane(), `${namespaces}/argocd`, head);
    const empty = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'argocd' } };
    await kubeApply(plane(), `${namespaces}/argocd/configmaps/${name}`, empty);
    await type(
      'kubectl --namespace argocd apply --server-side --field-manager=tintype -k config/argocd',
    );
    expect(await keysOf('configmaps', 'argocd-cm', 'argocd')).toHaveLength(5);
    await kubeOk(plane(), { method: 'DELETE', path: '/api/v1/namespaces/argocd' });
  });

  it('contains no other commands', () => {
    // test/cluster/narrow-watch.test.ts runs the remaining blocks, which delete a namespace.
    expect(blocks.filter((block) => !block.includes('--namespace team-a'))).toEqual([]);
  });
});
