import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../house/source-files.ts';
import {
  CHART,
  helm,
  helmText,
  type KubeObject,
  parseAll,
  run,
  type Values,
  valueSets,
} from './rendered.ts';

const rendered = Object.entries(valueSets).map(([name, values]) => ({
  name,
  text: helmText(values),
  objects: helm(values),
}));

function named(name: string): readonly KubeObject[] {
  return rendered.find((each) => each.name === name)?.objects ?? [];
}

function only(objects: readonly KubeObject[], kind: string): KubeObject {
  const [object, ...others] = objects.filter((each) => each.kind === kind);
  expect(others).toEqual([]);
  if (object === undefined) throw new Error(`no ${kind} is rendered`);
  return object;
}

function count(objects: readonly KubeObject[], kind: string): number {
  return objects.filter((each) => each.kind === kind).length;
}

describe('the chart', () => {
  it('renders objects that are valid by Kubernetes’ schemas, with every set of values', () => {
    // The schemas contain only Kubernetes' own kinds, not those of the Prometheus Operator.
    const args = ['-strict', '-summary', '-skip', 'PodMonitor,PrometheusRule', '-schema-location'];
    const schemas = '.tools/kubernetes-schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json';
    const documents = rendered.map(({ text }) => text).join('\n---\n');
    expect(run('kubeconform', [...args, schemas], documents)).toContain('Invalid: 0, Errors: 0');
  }, 300_000);

  it('keeps names that look like numbers or booleans', () => {
    const values = {
      ...{ watchNamespaces: ['1e3'], runtimeNamespaces: ['off'], deliveryNamespace: '456' },
      secretName: '123',
    };
    const release = ['template', '42', CHART, '--namespace', 'on', '--values', '-'];
    const found = parseAll(run('helm', release, JSON.stringify(values)));
    const names = found.flatMap(({ metadata }) => [
      metadata.namespace ?? 'none',
      metadata.labels?.['app.kubernetes.io/instance'],
    ]);
    expect(new Set(names)).toEqual(new Set(['on', '1e3', 'off', '456', 'none', '42', undefined]));
    const [container] = only(found, 'Deployment')['spec'].template.spec.containers;
    expect(container.envFrom).toEqual([{ secretRef: { name: '123' } }]);
    const subjects = found.flatMap((each) => each['subjects'] ?? []);
    expect(new Set(subjects.map(({ namespace }) => namespace))).toEqual(new Set(['on']));
  });

  it('passes helm lint with every set of values', () => {
    for (const [name, values] of Object.entries(valueSets)) {
      const args = ['lint', '--strict', CHART, '--values', '-'];
      expect(run('helm', args, JSON.stringify(values)), name).toContain('0 chart(s) failed');
    }
  }, 300_000);

  it.each([
    ['a value that it does not know', { replicas: 3 }, "'replicas'"],
    ['a value in the wrong place', { operator: { replica: 3 } }, "'replica'"],
    ['a number of another kind', { operator: { replicas: '3' } }, '/operator/replicas'],
    ['a namespace that is none', { watchNamespaces: ['Team A'] }, '/watchNamespaces/0'],
    ['a digest that is none', { image: { digest: 'latest' } }, '/image/digest'],
    ['a ConfigMap that is none', { caConfigMapRef: { name: 'CA' } }, '/caConfigMapRef/name'],
    ['no port to go out by', { networkPolicy: { egressPorts: [] } }, '/networkPolicy/egressPorts'],
    [
      'an amount of memory that is none',
      { operator: { resources: { limits: { memory: 'much' } } } },
      'memory',
    ],
  ] as [string, Values, string][])('rejects %s, and names its path', (_, values, words) => {
    expect(() => helmText(values)).toThrow(words);
  });

  it('includes the CRDs, which are kept on uninstall by default, or can be left out', () => {
    const policies = (name: string) =>
      named(name)
        .filter(({ kind }) => kind === 'CustomResourceDefinition')
        .map(({ metadata }) => metadata.annotations?.['helm.sh/resource-policy']);
    expect(policies('defaults')).toEqual(Array(5).fill('keep'));
    expect(policies('everything on')).toEqual(Array(5).fill(undefined));
    expect(policies('everything off')).toEqual([]);
  });

  it('has CRDs that are small enough for any kubectl to apply', () => {
    for (const object of named('defaults')) {
      if (object.kind !== 'CustomResourceDefinition') continue;
      expect(JSON.stringify(object).length, object.metadata.name).toBeLessThan(60_000);
    }
  });

  it('collects metrics in every namespace where pods of Tintype may run', () => {
    const metrics = { podMonitor: { enabled: true } };
    const monitored = (values: Values) => only(helm({ metrics, ...values }), 'PodMonitor')['spec'];
    const at = (...matchNames: string[]) => ({ namespaceSelector: { matchNames } });
    expect(monitored({})).toMatchObject(at('tintype-system'));
    const elsewhere = {
      runtimeNamespaces: ['images', 'tintype-system'],
      deliveryNamespace: 'edge',
    };
    expect(monitored(elsewhere)).toMatchObject(at('images', 'tintype-system', 'edge'));
  });

  it('leaves out every object that is turned off', () => {
    const kinds = named('everything off').map(({ kind }) => kind);
    for (const kind of [
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
      'PodDisruptionBudget',
      'NetworkPolicy',
      'PodMonitor',
      'PrometheusRule',
      'ConfigMap',
    ]) {
      expect(kinds).not.toContain(kind);
    }
    const labels = named('everything off').flatMap(({ metadata }) =>
      Object.entries(metadata.labels ?? {}),
    );
    const aggregated = labels.filter(([name]) => name.includes('aggregate-to'));
    expect(new Set(aggregated.map(([, value]) => value))).toEqual(new Set(['false']));
  });

  it('gives the operator only Roles, and no ClusterRoleBinding, if it watches named namespaces', () => {
    const objects = named('two watched namespaces');
    expect(count(objects, 'ClusterRoleBinding')).toBe(0);
    const operators = objects.filter(({ metadata }) =>
      metadata.name.startsWith('tintype-operator-'),
    );
    const places = operators
      .filter(({ kind }) => kind === 'Role')
      .map(
        ({ metadata }) => `${metadata.namespace}/${metadata.name.replace('tintype-operator-', '')}`,
      );
    expect(places.sort()).toEqual([
      'edge/delivery',
      'edge/runtime',
      'images/runtime',
      'team-a/tenant',
      'team-b/tenant',
      'tintype-system/own',
    ]);
    const env = only(objects, 'Deployment').spec.template.spec.containers[0].env;
    expect(env).toContainEqual({ name: 'TINTYPE_WATCH_NAMESPACES', value: 'team-a,team-b' });
    expect(env).toContainEqual({ name: 'TINTYPE_DELIVERY_NAMESPACE', value: 'edge' });
  });

  it.each([
    ['the release', {}, '', ['tintype-system']],
    ['the routes', { deliveryNamespace: 'edge' }, 'edge', ['edge']],
    [
      'the release beside others',
      { runtimeNamespaces: ['images'] },
      'images,tintype-system',
      ['images', 'tintype-system'],
    ],
    [
      'the routes beside others',
      { runtimeNamespaces: ['images', 'edge', 'more'], deliveryNamespace: 'edge' },
      'images,edge,more',
      ['images', 'edge', 'more'],
    ],
  ])('allows an ImageService in the namespace of %s', (_, values, variable, places) => {
    const objects = helm({ ...values, metrics: { podMonitor: { enabled: true } } });
    const env = only(objects, 'Deployment').spec.template.spec.containers[0].env;
    expect(env).toContainEqual({ name: 'TINTYPE_RUNTIME_NAMESPACES', value: variable });
    const roles = objects.filter(({ metadata }) => metadata.name === 'tintype-operator-runtime');
    for (const kind of ['Role', 'RoleBinding']) {
      const found = roles.filter((each) => each.kind === kind);
      expect(found.map(({ metadata }) => metadata.namespace)).toEqual(places);
    }
    const monitored = new Set([...places, 'tintype-system']);
    expect(only(objects, 'PodMonitor')['spec']).toMatchObject({
      namespaceSelector: { matchNames: [...monitored] },
    });
  });

  it('binds every role to the operator’s service account', () => {
    for (const { objects } of rendered) {
      const account = only(objects, 'ServiceAccount').metadata;
      const bindings = objects.filter(({ kind }) => kind.endsWith('RoleBinding'));
      expect(bindings.length).toBeGreaterThan(2);
      for (const { subjects, roleRef, metadata } of bindings) {
        expect(subjects).toEqual([
          { kind: 'ServiceAccount', name: account.name, namespace: 'tintype-system' },
        ]);
        const role = objects.find(
          (each) =>
            each.kind === roleRef.kind &&
            each.metadata.name === roleRef.name &&
            each.metadata.namespace === metadata.namespace,
        );
        expect(role, metadata.name).toBeDefined();
      }
    }
  });

  it('runs the operator as a restricted pod, with two replicas and a PodDisruptionBudget by default', () => {
    for (const { name, objects } of rendered) {
      const { replicas, template, selector } = only(objects, 'Deployment').spec;
      expectRestricted(template.spec);
      // The environment variables of a Service called tintype would change the configuration.
      expect(template.spec.enableServiceLinks).toBe(false);
      const [container] = template.spec.containers;
      expect(container.args).toEqual(['operator']);
      expect(container.livenessProbe.httpGet).toEqual({ path: '/livez', port: 'metrics' });
      expect(container.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'metrics' });
      expect(template.metadata.labels).toMatchObject(selector.matchLabels);
      if (name !== 'defaults') continue;
      expect(replicas).toBe(2);
      expect(container.ports[0].containerPort).toBe(8081);
      for (const kind of ['PodDisruptionBudget', 'NetworkPolicy']) {
        const { spec } = only(objects, kind);
        expect((spec.selector ?? spec.podSelector).matchLabels).toEqual(selector.matchLabels);
      }
    }
  });

  it('applies every value', () => {
    const objects = named('everything on');
    const { spec } = only(objects, 'Deployment').spec.template;
    const [container] = spec.containers;
    expect(container.image).toBe(`registry.example.com/tintype@sha256:${'a'.repeat(64)}`);
    expect(container.env.at(-1)).toEqual({
      name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      value: 'http://collector:4318',
    });
    expect(container.env).toContainEqual({ name: 'TINTYPE_METRICS_PORT', value: '9090' });
    expect(container.envFrom).toEqual([{ secretRef: { name: 'database' } }]);
    const [mounted] = container.volumeMounts.slice(-1);
    expect(mounted).toEqual({ name: 'ca', mountPath: '/etc/tintype/ca', readOnly: true });
    const certificates = `${mounted.mountPath}/ca.crt`;
    expect(container.env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: certificates });
    const items = [{ key: 'root.pem', path: 'ca.crt' }];
    expect(spec.volumes).toContainEqual({ name: 'ca', configMap: { name: 'authorities', items } });
    expect(spec).toMatchObject({
      imagePullSecrets: [{ name: 'pull' }],
      priorityClassName: 'system-cluster-critical',
      tolerations: [{ key: 'dedicated' }],
    });
    const names = new Set(objects.map(({ metadata }) => metadata.name.split(/[-.]/)[0]));
    names.delete('projects');
    expect(
      [...names].filter((name) => name?.startsWith('pictures') || name?.startsWith('tintype')),
    ).toContain('pictures');
    expect(JSON.parse(only(objects, 'ConfigMap').data['tintype.json']).uid).toBe('tintype');
  });

  it('keeps Prometheus’ own placeholders in the alerts', () => {
    const rule = only(named('everything on'), 'PrometheusRule');
    const texts = JSON.stringify(rule.spec.groups);
    expect(texts).toContain('{{ $labels.namespace }}');
    expect(texts).toContain('https://tintype.dev/docs/runbook/api-errors.md');
  });

  it('alerts if no operator runs in the namespace of the release', () => {
    const args = ['template', 'two', CHART, '--namespace', 'images'];
    const text = run('helm', [...args, '--set', 'metrics.rules.enabled=true']);
    expect(text).toMatch(/absent\(leader_election_master_status\{.*,namespace="images"\}/);
  });

  it('lists its CRDs in the annotations for chart registries', () => {
    const chart = parse(readFileSync(join(projectRoot, CHART, 'Chart.yaml'), 'utf8'));
    expect(chart.kubeVersion).toBe('>=1.31.0-0');
    const noted = parse(chart.annotations['artifacthub.io/crds']);
    expect(noted.map(({ name }: { name: string }) => name).sort()).toEqual(
      named('defaults')
        .filter(({ kind }) => kind === 'CustomResourceDefinition')
        .map(({ metadata }) => metadata.name)
        .sort(),
    );
  });
});

/** Expects the Pod Security level `restricted`, and a read-only root file system. */
function expectRestricted(spec: KubeObject['spec']): void {
  expect(spec.securityContext).toMatchObject({
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  for (const word of ['hostNetwork', 'hostPID', 'hostIPC']) expect(spec[word]).toBeUndefined();
  for (const { name, ...source } of spec.volumes)
    expect(Object.keys(source), name).toEqual([name === 'ca' ? 'configMap' : 'emptyDir']);
  for (const { securityContext } of spec.containers) {
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  }
}
