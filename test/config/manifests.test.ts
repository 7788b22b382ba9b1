import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { permissions } from '../../operator/permissions.ts';
import { projectRoot } from '../house/source-files.ts';
import { helm, type KubeObject, kustomize } from './rendered.ts';

/**
 * Removes what may differ: the label for the manager, Helm's resource policy, and empty fields,
 * which the API server treats as absent.
 */
function normalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .filter(
      ([name]) => name !== 'app.kubernetes.io/managed-by' && name !== 'helm.sh/resource-policy',
    )
    .map(([name, each]) => [name, normalize(each)] as const)
    .filter(([, each]) => !isEmpty(each));
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === null) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function byName(objects: readonly KubeObject[]): Record<string, unknown> {
  const named = objects.map(
    (each) =>
      [
        `${each.kind} ${each.metadata.namespace ?? ''}/${each.metadata.name}`,
        normalize(each),
      ] as const,
  );
  expect(new Set(named.map(([name]) => name)).size, 'no object twice').toBe(named.length);
  return Object.fromEntries(named);
}

describe('Helm and kustomize', () => {
  it('install the same objects, except for the namespace, which only kustomize creates', () => {
    const { 'Namespace /tintype-system': namespace, ...rest } = byName(kustomize('default'));
    expect(namespace).toBeDefined();
    expect(byName(helm())).toEqual(rest);
  });

  it('trust the same private certificate authority', () => {
    const { 'Namespace /tintype-system': _, ...rest } = byName(kustomize('private-ca'));
    const trusting = byName(helm({ caConfigMapRef: { name: 'tintype-ca' } }));
    expect(trusting).toEqual(rest);
    expect(trusting).not.toEqual(byName(helm()));
  });

  it('install the same alerts and the same collection of metrics', () => {
    const isMonitoring = ({ apiVersion }: KubeObject) => apiVersion.startsWith('monitoring.');
    const metrics = { podMonitor: { enabled: true }, rules: { enabled: true } };
    const monitoring = byName(helm({ metrics }).filter(isMonitoring));
    expect(Object.keys(monitoring)).toHaveLength(2);
    expect(monitoring).toEqual(byName(kustomize('prometheus').map((each) => each)));
  });
});

const config = join(projectRoot, 'config');
const folders = readdirSync(config, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('/kustomization.yaml'))
  .map(dirname)
  .sort();

describe('kustomize', () => {
  it('has a folder for everything that users apply', () => {
    const applied = ['argocd', 'crd', 'default', 'flux', 'private-ca', 'prometheus', 'samples'];
    expect(folders).toEqual(expect.arrayContaining(applied));
  });

  it.each(folders)('builds config/%s from every file in it', (folder) => {
    const files = readdirSync(join(config, folder)).filter((name) => name.endsWith('.yaml'));
    const objects = kustomize(folder);
    expect(new Set(objects.map((each) => JSON.stringify([each.kind, each.metadata]))).size).toBe(
      objects.length,
    );
    expect(objects.length).toBeGreaterThanOrEqual(Math.max(1, files.length - 1));
  });

  it('puts the samples into the namespaces where they work', () => {
    const places = kustomize('samples').map(({ kind, metadata }) => [kind, metadata.namespace]);
    expect(places.sort()).toEqual([
      ['ImageService', 'tintype-system'],
      ['Project', undefined],
      ['Recipe', undefined],
      ['SigningKey', undefined],
      ['WatermarkPreset', undefined],
    ]);
  });
});

describe('the operator’s permissions', () => {
  const table = Object.values(permissions).flat();

  it('name every resource and verb, and never allow listing or watching Secrets', () => {
    for (const { resources, verbs } of table) {
      expect([...resources, ...verbs]).not.toContain('*');
      const isOfSecrets = resources.some((each) => each === 'secrets');
      if (isOfSecrets) expect(verbs).not.toEqual(expect.arrayContaining(['list']));
      if (isOfSecrets) expect(verbs).not.toEqual(expect.arrayContaining(['watch']));
    }
  });

  it('allow changing only the Lease that is named tintype-operator', () => {
    const leases = permissions.own.filter(({ verbs }) => verbs.some((verb) => verb !== 'create'));
    expect(leases.map((each) => 'names' in each && each.names)).toEqual([['tintype-operator']]);
  });

  it('are cluster-wide only for tenants’ resources, and otherwise limited to the operator’s namespace', () => {
    const objects = kustomize('rbac');
    const operators = objects.filter(({ metadata }) =>
      metadata.name.startsWith('tintype-operator'),
    );
    const wide = operators.filter(({ kind }) => kind === 'ClusterRole');
    expect(wide.map(({ rules }) => rules.length)).toEqual([permissions.tenant.length]);
    const narrow = operators.filter(({ kind }) => kind === 'Role');
    expect(narrow.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      'tintype-system/tintype-operator-delivery',
      'tintype-system/tintype-operator-own',
      'tintype-system/tintype-operator-runtime',
    ]);
  });

  it('grant the verb manage-staff-fields only to the role of staff', () => {
    const holders = kustomize('rbac').filter((each) =>
      (each.rules ?? []).some((rule: { verbs: string[] }) =>
        rule.verbs.some((verb) => verb === 'manage-staff-fields' || verb === '*'),
      ),
    );
    expect(holders.map(({ metadata }) => metadata.name)).toEqual(['tintype-staff']);
    expect(Object.keys(holders[0]?.metadata.labels ?? {}).join()).not.toContain('aggregate');
  });
});
