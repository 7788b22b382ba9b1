import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../runtime/platform/config.ts';
import { projectRoot } from '../house/source-files.ts';
import { helm, helmText, type Values } from './rendered.ts';

describe('image.repository', () => {
  it.each(['tintype', 'localhost:5000/tintype', 'registry.example.com:443/a/b_c/d.e-f__g--h'])(
    'accepts %s',
    (repository) => {
      expect(helmText({ image: { repository, tag: '1.2' } })).toContain(`image: ${repository}:1.2`);
    },
  );

  it.each([
    'registry.example.com/tintype:1.2',
    'tintype:1.2',
    'tintype@sha256',
    'registry.example.com/tintype/',
    'registry.example.com:/tintype',
    'registry.example.com//tintype',
  ])('rejects %s', (repository) => {
    expect(() => helmText({ image: { repository } })).toThrow('/image/repository');
  });
});

it.each(['watchNamespaces', 'runtimeNamespaces'])(
  'duplicate namespaces are rejected: %s',
  (name) => {
    expect(() => helmText({ [name]: ['a', 'b', 'a'] })).toThrow(
      `/${name}': items at 0 and 2 are equal`,
    );
  },
);

it('the operator accepts every log level that the chart accepts', () => {
  const schema = readFileSync(join(projectRoot, 'charts/tintype/values.schema.json'), 'utf8');
  const { logLevel } = JSON.parse(schema).properties.operator.properties;
  expect(logLevel.enum).toContain('debug');
  for (const TINTYPE_LOG_LEVEL of logLevel.enum) {
    expect(parseConfig({ TINTYPE_LOG_LEVEL }).logLevel).toBe(TINTYPE_LOG_LEVEL);
  }
});

/** Returns values that set this path to null: `a.b` gives `{ a: { b: null } }`. */
function without(path: string): Values {
  return path.split('.').reduceRight<unknown>((inner, word) => ({ [word]: inner }), null) as Values;
}

/** Removes empty fields, which the API server treats as absent. */
function normalize(values: Values): unknown {
  const isEmpty = (value: unknown) =>
    value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
  return JSON.parse(
    JSON.stringify(helm(values), (_, value) => (isEmpty(value) ? undefined : value)),
  );
}

describe('a value set to null', () => {
  it.each([
    ...['secretName', 'image', 'crds', 'operator', 'serviceAccount', 'rbac', 'networkPolicy'],
    ...['admissionPolicy', 'podDisruptionBudget', 'metrics', 'metrics.podMonitor', 'metrics.rules'],
    ...['image.repository', 'image.pullPolicy', 'crds.enabled', 'crds.keep', 'rbac.aggregate'],
    ...['operator.replicas', 'operator.logLevel', 'operator.heapMegabytes', 'metrics.port'],
    ...['networkPolicy.egressPorts', 'metrics.rules.runbookUrl'],
  ])('is rejected, and the error names it: %s', (path) => {
    const [name, ...groups] = path.split('.').reverse();
    const at = groups.reverse().map((group) => `/${group}`);
    const words = new RegExp(`at '${at.join('')}': missing propert.*'${name}'`);
    expect(() => helmText(without(path))).toThrow(words);
  });

  it('means the default if that is empty', () => {
    const nothing = {
      ...{ nameOverride: null, watchNamespaces: null, runtimeNamespaces: null },
      ...{ deliveryNamespace: null, caConfigMapRef: { name: null } },
      image: { tag: null, digest: null, pullSecrets: null },
      operator: {
        ...{ env: null, podAnnotations: null, tolerations: null, affinity: null },
        priorityClassName: null,
      },
      serviceAccount: { annotations: null },
      metrics: { podMonitor: { enabled: null }, rules: { enabled: null } },
    };
    expect(normalize(nothing)).toEqual(normalize({}));
  });

  // `--reuse-values` uses the defaults of the older chart, which lack newer values.
  it('is accepted if an older chart did not have it', () => {
    expect(normalize({ caConfigMapRef: null })).toEqual(normalize({}));
    const name = 'authorities';
    const trusting = normalize({ caConfigMapRef: { name, key: 'ca.crt' } });
    expect(normalize({ caConfigMapRef: { name, key: null } })).toEqual(trusting);
  });
});

describe('operator.env', () => {
  it('accepts a value or a valueFrom source', () => {
    const { env } = operatorContainer({
      operator: {
        env: [
          { name: 'OTEL_SERVICE_NAME', value: '1' },
          { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
        ],
      },
    });
    expect(env.slice(-2)).toEqual([
      { name: 'OTEL_SERVICE_NAME', value: '1' },
      { name: 'NODE_IP', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
    ]);
  });

  it.each([
    ['a number', { name: 'A', value: 1 }, '/operator/env/0/value'],
    ['misspelt', { name: 'A', valeFrom: {} }, "'valeFrom'"],
    ['without a name', { value: 'a' }, "missing property 'name'"],
    ['of a name that is none', { name: '1=A', value: 'a' }, '/operator/env/0/name'],
  ])('rejects a variable that is %s', (_, variable, words) => {
    expect(() => helmText({ operator: { env: [variable] } })).toThrow(words);
  });

  it('rejects variables that the chart itself sets, and names the value to set instead', () => {
    const { env } = operatorContainer({ caConfigMapRef: { name: 'authorities' } });
    const names: string[] = env.map(({ name }: { name: string }) => name);
    const reported = names.map((name) => {
      try {
        return helmText({ operator: { env: [{ name, value: 'a' }] } }).slice(0, 100);
      } catch (error) {
        return /operator\.env cannot have .*/.exec(String(error))?.[0];
      }
    });
    expect(reported).toEqual(
      [
        'POD_NAME: it is the name of the pod',
        'POD_NAMESPACE: it is the namespace of the release',
        'TINTYPE_WATCH_NAMESPACES: set watchNamespaces instead',
        'TINTYPE_RUNTIME_NAMESPACES: set runtimeNamespaces instead',
        'TINTYPE_DELIVERY_NAMESPACE: set deliveryNamespace instead',
        'TINTYPE_METRICS_PORT: set metrics.port instead',
        'TINTYPE_LOG_LEVEL: set operator.logLevel instead',
        'NODE_OPTIONS: set operator.heapMegabytes instead',
        'NODE_EXTRA_CA_CERTS: set caConfigMapRef.name instead',
      ].map((words) => `operator.env cannot have ${words}`),
    );
  });
});

function operatorContainer(values: Values) {
  const deployment = helm(values).find(({ kind }) => kind === 'Deployment');
  return deployment?.['spec'].template.spec.containers[0];
}
