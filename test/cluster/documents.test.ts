// What docs/kubernetes.md and docs/image-service.md let people type into a cluster, as it stands there.
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

/** The next block that begins so, with the names of this test in the place of its own. */
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

/** The namespace that a page names is the test's, but for that of Argo CD, which its file names too. */
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

describe('what the documents show', { shuffle: false }, () => {
  it('the Secrets have the keys that the operator and an installation take', async () => {
    await type('kubectl --namespace tintype-system create secret generic tintype ');
    expect(await keysOf('secrets', 'tintype')).toEqual([
      'TINTYPE_DATABASE_URL',
      'TINTYPE_KEY_ENCRYPTION_KEYS',
    ]);
    await type('kubectl create secret generic tintype-keys');
    expect(await keysOf('secrets', 'tintype-keys')).toHaveLength(4);
  });

  it('an ImageService takes the fields that are shown', () => {
    const [shown, ...others] = readFences(IMAGE_SERVICE).filter(
      ({ language }) => language === 'yaml',
    );
    expect(others).toEqual([]);
    const declared = parse(shown?.text ?? '');
    expect(networkPolicy.parse(declared.networkPolicy)).toEqual(declared.networkPolicy);
  });

  it('routes are asked for by fields and labels that there are', async () => {
    await apply('Project', slug, { displayName: 'Shop' });
    expect(
      await type(
        `kubectl get project shop --output jsonpath='{.status.conditions[?(@.type=="Routed`,
      ),
    ).toBe('');
  });

  it('staff sets a field by a patch', async () => {
    expect(await type('kubectl patch project shop --type=merge --patch')).toContain('patched');
  });

  it('a plan is asked for, seen and let happen', async () => {
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

  it('Argo CD is taught the kinds', async () => {
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

  it('nothing else is typed there', () => {
    // test/cluster/narrow-watch.test.ts takes namespaces away.
    expect(blocks.filter((block) => !block.includes('--namespace team-a'))).toEqual([]);
  });
});
