import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../config/rendered.ts';
import { readCommands } from '../contract/support/blocks.ts';
import { projectRoot } from '../house/source-files.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { kubeOk, kubeRelease, kubeRequest } from '../support/kube-request.ts';
import { clusterShell } from '../support/kube-tools.ts';
import { playPods } from '../support/pod-player.ts';

const runFile = promisify(execFile);

// A separate control plane: these tests delete the definitions that other tests need.
let plane: ControlPlane;

beforeAll(async () => {
  plane = await startControlPlane();
}, 300_000);

afterAll(() => plane?.stop());

/** Runs a command of the documentation as it is written. */
async function type(command: string | undefined): Promise<string> {
  const env = clusterShell(plane.folder);
  // Files that the command names are in the folder of the test.
  const script = (command ?? 'false').replace('=ca.crt', `=${join(plane.folder, 'ca.crt')}`);
  const words = ['--norc', '-euo', 'pipefail', '-c', script];
  const options = { cwd: projectRoot, env, maxBuffer: 16 * 1024 * 1024 };
  return (await runFile('bash', words, options)).stdout;
}

/** Runs a command while pods become ready, as on a node. */
async function typeWithPods(command: string | undefined): Promise<string> {
  const pods = playPods(plane, 'tintype-system', () => 'ready');
  return type(command).finally(() => pods.stop());
}

const OPERATOR = '/apis/apps/v1/namespaces/tintype-system/deployments/tintype-operator';
const KUBERNETES = readCommands('docs/kubernetes.md', 'Install');
const installs = KUBERNETES.filter((command) => command.startsWith('make install '));

const projects = (namespace: string) =>
  `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/projects`;

async function script(name: string, env: Record<string, string> = {}): Promise<string> {
  const { stdout } = await runFile(join(projectRoot, 'config', name), {
    env: { ...clusterShell(plane.folder), ...env },
  });
  return stdout;
}

async function list(path: string): Promise<string[]> {
  const { status, body } = await kubeRequest(plane, { path });
  if (status === 404) return [];
  const items = body.items as { metadata: { name: string } }[];
  return items.map(({ metadata }) => metadata.name).filter((each) => /tintype/.test(each));
}

/** Everything in the cluster that belongs to Tintype. */
async function left(): Promise<string[]> {
  const paths = [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
    '/api/v1/namespaces',
  ];
  return (await Promise.all(paths.map(list))).flat();
}

async function declare(namespace: string, name: string, finalizers: readonly string[]) {
  const body = {
    apiVersion: 'tintype.dev/v1alpha1',
    kind: 'Project',
    metadata: { name, finalizers },
    spec: { displayName: name },
  };
  await kubeOk(plane, { method: 'POST', path: projects(namespace), body });
}

describe('installing with make and Helm', { shuffle: false }, () => {
  describe('make install and make uninstall', () => {
    it('install everything at the first run, and change nothing at the second', async () => {
      expect(await script('install.sh')).toContain('create secret generic tintype');
      const path = OPERATOR;
      const first = await kubeOk(plane, { path });
      await script('install.sh');
      const second = await kubeOk(plane, { path });
      const generation = (each: typeof first) =>
        (each.metadata as { generation: number }).generation;
      expect(generation(second)).toBe(generation(first));
    }, 300_000);

    it('install as documented in docs/kubernetes.md', async () => {
      expect(installs).toHaveLength(2);
      await type(installs[0]);
      const documented = '"image":"registry.example.com/tintype:1.2"';
      expect(JSON.stringify(await kubeOk(plane, { path: OPERATOR }))).toContain(documented);
      const waits = KUBERNETES.filter((command) => command.includes(' wait '));
      expect(waits).toHaveLength(1);
      expect(await typeWithPods(waits[0])).toContain('condition met');
    }, 300_000);

    it('keep the CA that the operator trusts, and its image, until others are named', async () => {
      const image = 'registry.example.com:5000/images/tintype:1.2.3';
      const words = ['NODE_EXTRA_CA_CERTS', '"name":"tintype-ca"', `"image":"${image}"`];
      const installed = async () => {
        const { spec } = await kubeOk(plane, { path: OPERATOR });
        return words.filter((word) => JSON.stringify(spec).includes(word));
      };
      expect(await type(installs[1])).not.toContain('Keeping the folder');
      expect(await installed()).toEqual(words.slice(0, 2));
      const keepsFolder = await script('install.sh', { IMAGE: image });
      expect(keepsFolder).toContain('Keeping the folder config/private-ca');
      expect(keepsFolder).not.toContain('Keeping the image');
      expect(await installed()).toEqual(words);
      const keepsImage = await script('install.sh', { FOLDER: 'config/default' });
      expect(keepsImage).toContain(`Keeping the image ${image}`);
      expect(keepsImage).not.toContain('Keeping the folder');
      expect(await installed()).toEqual(words.slice(2));
    }, 300_000);

    it('remove no finalizers of others, and say what is in the way', async () => {
      await declare('default', 'shop', ['tintype.dev/project']);
      await declare('default', 'held', ['tintype.dev/project', 'example.com/backup']);
      // Already released by the operator.
      await declare('default', 'again', ['example.com/backup']);
      const failed = await script('uninstall.sh', { UNINSTALL_SECONDS: '1' }).catch(
        (error) => error,
      );
      expect(failed.stdout).toContain('Project default/shop: no operator released it');
      expect(failed.stdout).not.toContain('default/again');
      expect(failed.stderr).toContain('held by finalizers of others');
      const { items } = await kubeOk(plane, { path: projects('default') });
      expect(items).toMatchObject([
        { metadata: { name: 'again', finalizers: ['example.com/backup'] } },
        { metadata: { name: 'held', finalizers: ['example.com/backup'] } },
      ]);
    }, 300_000);

    it('leave nothing behind, even without an operator that releases its resources', async () => {
      for (const name of ['held', 'again']) {
        await kubeRelease(plane, `${projects('default')}/${name}`);
      }
      expect(await script('uninstall.sh')).toContain('no resource, definition or role of');
      expect(await left()).toEqual([]);
    }, 300_000);
  });

  async function helmIn(namespace: string, ...args: string[]): Promise<string> {
    const env = clusterShell(plane.folder);
    const options = { cwd: projectRoot, env, maxBuffer: 16 * 1024 * 1024 };
    const words = [...args, '--namespace', namespace];
    const { stdout } = await runFile('helm', words, options);
    return stdout;
  }

  describe('make uninstall beside a Helm release', () => {
    it('names what is left, and how to remove it', async () => {
      const values = ['--set', 'crds.enabled=false', '--set', 'watchNamespaces={default}'];
      await helmIn('two', 'install', 'second', 'charts/tintype', '--create-namespace', ...values);
      const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
      const labels = {
        'app.kubernetes.io/name': 'tintype',
        'app.kubernetes.io/component': 'operator',
      };
      const body = { metadata: { name: 'by-hand', labels }, rules: [] };
      await kubeOk(plane, { method: 'POST', path, body });

      const said = await script('uninstall.sh');
      expect(said).not.toContain('definition or role of');
      const helm = 'helm uninstall second --namespace two';
      expect(said).toContain(`Deployment two/second-tintype-operator: ${helm}`);
      expect(said).toContain(`Role default/second-tintype-operator-tenant: ${helm}`);
      expect(said).toContain(`ClusterRole second-tintype-staff: ${helm}`);
      expect(said).toMatch(
        /Role default\/by-hand: \S*kubectl delete Role by-hand --namespace default/,
      );

      await helmIn('two', 'uninstall', 'second');
      await kubeOk(plane, { method: 'DELETE', path: `${path}/by-hand` });
    }, 300_000);
  });

  describe('make uninstall if only the chart is installed', () => {
    it('removes only the definitions of the release, and names the rest', async () => {
      await helmIn('ts', 'install', 'tintype', 'charts/tintype', '--create-namespace');
      const release = (await helmIn('ts', 'get', 'manifest', 'tintype')).trim();
      const named = () => {
        const kubeconfig = ['--kubeconfig', join(plane.folder, 'admin.kubeconfig')];
        const words = ['get', '--ignore-not-found', '--namespace', 'ts', '--output', 'name'];
        const found = run('kubectl', [...kubeconfig, ...words, '--filename', '-'], release);
        return found.split('\n').filter((name) => !/^(customresourcedefinition|$)/.test(name));
      };
      const before = named();
      expect(before.length).toBeGreaterThan(20);
      const said = await script('uninstall.sh');
      expect(named()).toEqual(before);
      const helm = 'helm uninstall tintype --namespace ts';
      for (const object of [
        'Deployment ts/tintype-operator',
        'ClusterRole tintype-operator',
        'ClusterRoleBinding tintype-operator',
        'ValidatingAdmissionPolicy tintype-staff-fields.tintype.dev',
      ]) {
        expect(said).toContain(`${object}: ${helm}`);
      }
      await helmIn('ts', 'uninstall', 'tintype');
      expect(await left()).toEqual([]);
    }, 300_000);
  });

  describe('the Helm chart in a cluster', () => {
    const README = 'charts/tintype/README.md';
    const helm = (...args: string[]) => helmIn('tintype-system', ...args);
    const typeAll = async (under: string) => {
      const commands = readCommands(README, under);
      for (const command of commands) await type(command);
      return commands.length;
    };

    it('is installed as its README says', async () => {
      const [wait, ...others] = readCommands(README, 'Install').reverse();
      for (const command of others.reverse()) await type(command);
      expect(await typeWithPods(wait)).toContain('condition met');
    }, 300_000);

    it('is upgraded in place, and leaves the definitions with their resources when it is uninstalled', async () => {
      await declare('default', 'shop', []);
      const first = await kubeOk(plane, { path: OPERATOR });
      await helm('upgrade', 'tintype', 'charts/tintype', '--reuse-values');
      const second = await kubeOk(plane, { path: OPERATOR });
      expect(second.metadata).toMatchObject({
        generation: (first.metadata as { generation: number }).generation,
      });
      await helm('upgrade', 'tintype', 'charts/tintype', '--set', 'operator.replicas=3');
      expect((await kubeOk(plane, { path: OPERATOR })).spec).toMatchObject({ replicas: 3 });

      await helm('uninstall', 'tintype');
      expect((await kubeRequest(plane, { path: OPERATOR })).status).toBe(404);
      expect((await left()).sort()).toEqual([
        'imageservices.tintype.dev',
        'projects.tintype.dev',
        'recipes.tintype.dev',
        'signingkeys.tintype.dev',
        'tintype-system',
        'watermarkpresets.tintype.dev',
      ]);
      const { items } = await kubeOk(plane, { path: projects('default') });
      expect(items).toMatchObject([{ metadata: { name: 'shop' } }]);
    }, 300_000);

    it('trusts a CA and runs beside a second release, as its README says', async () => {
      await writeFile(join(plane.folder, 'ca.crt'), 'its authority');
      expect(await typeAll('Your own certificate authority')).toBe(2);
      expect(JSON.stringify(await kubeOk(plane, { path: OPERATOR }))).toContain('"tintype-ca"');
      for (const name of ['shop', 'blog']) await type(`kubectl create namespace ${name}`);
      expect(await typeAll('A second release')).toBe(2);
      const two = OPERATOR.replace('tintype-system', 'tintype-two').replace(
        'tintype-operator',
        'tintype-two-operator',
      );
      const watched = await Promise.all(
        [OPERATOR, two].map(async (path) => JSON.stringify(await kubeOk(plane, { path }))),
      );
      expect(watched[0]).toContain('"value":"shop"');
      expect(watched[1]).toContain('"value":"blog"');
    }, 300_000);
  });
});
