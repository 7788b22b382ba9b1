/** Declarations: resources of the five kinds, as YAML and as objects, quantities, environment variables and plans. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { clusterKinds } from '../../../operator/cluster-kinds.ts';
import { checkDocument } from '../../../operator/files/check-document.ts';
import { printFault } from '../../../operator/files/fault.ts';
import { readDocuments } from '../../../operator/files/read-documents.ts';
import { kinds } from '../../../operator/kinds.ts';
import { keyOf, parseKey } from '../../../operator/kube/resource.ts';
import { parseBytes, printBytes, printCpu } from '../../../operator/quantity.ts';
import { plansFile } from '../../../runtime/core/plans.ts';
import { ConfigError, parseConfig } from '../../../runtime/platform/config.ts';
import { variables } from '../../../runtime/platform/config-variables.ts';
import { full, least } from '../../operator/image-service/samples.ts';
import { configExamples } from '../../support/config-examples.ts';
import { refusals, type Target, text } from '../target.ts';
import { parseJson } from './parse-json.ts';

const SAMPLES = join(import.meta.dirname, '../../../config/samples');
const NAMES = [
  'project',
  'recipe',
  'signing-key',
  'watermark-preset',
  'installation/image-service',
];
const samples = () => NAMES.map((name) => readFileSync(join(SAMPLES, `${name}.yaml`), 'utf8'));

const PROJECT = {
  displayName: 'Shop',
  slug: 'shop',
  deliveryAccess: 'Protected',
  resolutionPresets: [{ name: 'thumb', chain: 'resize/200x200' }],
  allowedTransformChains: ['format/webp'],
  corsAllowedOrigins: ['https://shop.example', '*'],
  callback: { url: 'https://shop.example/hook' },
  customDomains: ['img.shop.example'],
};

const yaml = text({
  name: 'yaml-of-a-folder',
  length_max: 8192,
  seeds: () => [
    ...samples(),
    samples().join('---\n'),
    'a: &x [1]\nb: *x\n<<: {c: !!str 1}\n? [1]\n: |\n  text',
  ],
  run(input) {
    const { documents, faults } = readDocuments('a.yaml', input);
    const checked = documents.map((document) => checkDocument(document, 'default'));
    const said = [...faults, ...checked.flatMap((each) => each.faults)];
    for (const fault of said) {
      assert.ok(fault.line >= 1 && fault.line <= input.split('\n').length + 1, printFault(fault));
    }
    return documents.length === 0 ? undefined : checked.map(({ resource }) => resource?.identity);
  },
});

type AnyKind = (typeof kinds)[number] | (typeof clusterKinds)[number];

function specTarget({ kind, spec }: AnyKind): Target {
  const whole = kind === 'ImageService' ? [least, full] : kind === 'Project' ? [PROJECT] : [];
  return text({
    name: `spec-of-${kind.toLowerCase()}`,
    length_max: 8192,
    seeds: () => [
      ...whole.map((each) => JSON.stringify(each)),
      ...samples()
        .map((each) => parse(each) as { kind: string; spec: unknown })
        .filter((each) => each.kind === kind)
        .map((each) => JSON.stringify(each.spec)),
    ],
    run(input) {
      const read = spec.safeParse(parseJson(input));
      if (!read.success) {
        assert.ok(read.error.issues.length > 0);
        return undefined;
      }
      assert.deepEqual(spec.parse(read.data), read.data);
      return read.data;
    },
  });
}

const quantities = text({
  name: 'quantities',
  seeds: () => ['1Gi', '1024Mi', '500M', '8191Ti', '9007199254740993Ti', '2000m', '250m', '0'],
  run(input) {
    const bytes = parseBytes(input);
    assert.ok(Number.isSafeInteger(bytes) && bytes >= 0);
    const printed = printBytes(input);
    assert.equal(parseBytes(printed), bytes);
    assert.equal(printBytes(printed), printed);
    if (/^\d{1,9}$/.test(input))
      assert.equal(printCpu(`${input}m`), printCpu(printCpu(`${input}m`)));
    return bytes;
  },
  refuses: (error) =>
    error instanceof Error && error.message.endsWith('is not an amount of memory'),
});

const ENVIRONMENT = Object.entries(configExamples).map(([name, value]) => `${name}=${value}`);
const names: readonly string[] = Object.values(variables).map(({ name }) => name);

const environment = text({
  name: 'environment',
  length_max: 16_384,
  seeds: () => [ENVIRONMENT.join('\n'), ...ENVIRONMENT, ENVIRONMENT.slice(0, 12).join('\n')],
  run(input) {
    const pairs = input.split('\n').map((line): [string, string] => {
      const at = line.indexOf('=');
      return [line.slice(0, Math.max(at, 0)), line.slice(at + 1)];
    });
    const config = parseConfig(Object.fromEntries(pairs));
    return pairs.some(([name]) => names.includes(name)) ? Object.values(config) : undefined;
  },
  refuses: (error) => {
    if (!refusals(ConfigError)(error)) return false;
    const { problems } = error as ConfigError;
    assert.ok(
      problems.every((problem) => names.some((name) => problem.startsWith(`${name}: expected `))),
    );
    return true;
  },
});

const PLANS = `trial: { credits: 1000, granted: once, storage_bytes: 1000000 }
starter:
  credits: 50000
  granted: monthly
  storage_bytes: 10000000000
  price: { amount: 900, currency: EUR }
`;

const plans = text({
  name: 'plans',
  seeds: () => [PLANS],
  run(input) {
    const read = plansFile.safeParse(parseYaml(input));
    if (read.success) assert.deepEqual(plansFile.parse(read.data), read.data);
    return read.data;
  },
});

/** The loader reports invalid YAML as advice, so errors of the library do not matter. */
function parseYaml(input: string): unknown {
  try {
    return parse(input, { logLevel: 'error' });
  } catch {
    return undefined;
  }
}

const keys = text({
  name: 'keys-of-objects',
  seeds: () => ['default/shop', 'shop', 'a/b/c'],
  run(input) {
    const place = parseKey(input);
    assert.equal(keyOf(place), input);
    return place;
  },
});

export const declarationTargets: readonly Target[] = [
  yaml,
  ...[...kinds, ...clusterKinds].map(specTarget),
  quantities,
  environment,
  plans,
  keys,
];
