import { describe, expect, it } from 'vitest';
import { helm, helmText, type Values } from './rendered.ts';

describe('the repository of the image', () => {
  it.each(['tintype', 'localhost:5000/tintype', 'registry.example.com:443/a/b_c/d.e-f__g--h'])(
    'may be %s',
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
  ])('is not %s', (repository) => {
    expect(() => helmText({ image: { repository } })).toThrow('/image/repository');
  });
});

/** `a.b` as `{ a: { b: null } }`. */
function without(path: string): Values {
  return path.split('.').reduceRight<unknown>((inner, word) => ({ [word]: inner }), null) as Values;
}

/** What the API server makes of the objects, to which what is empty is absent. */
function essence(values: Values): unknown {
  const isEmpty = (value: unknown) =>
    value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
  return JSON.parse(
    JSON.stringify(helm(values), (_, value) => (isEmpty(value) ? undefined : value)),
  );
}

describe('a value that is taken away by null', () => {
  it.each([
    ...['secretName', 'image', 'crds', 'operator', 'serviceAccount', 'rbac', 'networkPolicy'],
    ...['admissionPolicy', 'podDisruptionBudget', 'metrics', 'metrics.podMonitor', 'metrics.rules'],
    ...['image.repository', 'image.pullPolicy', 'crds.enabled', 'crds.keep', 'rbac.aggregate'],
    ...['operator.replicas', 'operator.logLevel', 'operator.heapMegabytes', 'metrics.port'],
    ...['networkPolicy.egressPorts', 'metrics.rules.runbookUrl'],
  ])('is refused by its name: %s', (path) => {
    const [name, ...groups] = path.split('.').reverse();
    const at = groups.reverse().map((group) => `/${group}`);
    const words = new RegExp(`at '${at.join('')}': missing propert.*'${name}'`);
    expect(() => helmText(without(path))).toThrow(words);
  });

  it('is the same as its default where that is empty', () => {
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
    expect(essence(nothing)).toEqual(essence({}));
  });

  // As with `--reuse-values`, which takes the defaults of the older chart.
  it('is not missed where an older chart did not have it', () => {
    expect(essence({ caConfigMapRef: null })).toEqual(essence({}));
    const name = 'authorities';
    const trusting = essence({ caConfigMapRef: { name, key: 'ca.crt' } });
    expect(essence({ caConfigMapRef: { name, key: null } })).toEqual(trusting);
  });
});
