/**
 * Every field that people write, with an invalid value: the API server names the field and explains the problem in our
 * words. Messages of patterns, bounds or schemas would not help anybody.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { clusterKinds } from '../../operator/cluster-kinds.ts';
import { structural } from '../../operator/crd.ts';
import { kinds as tenantKinds } from '../../operator/kinds.ts';
import { full } from '../operator/image-service/samples.ts';
import { kubeRequest } from '../support/kube-request.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const cluster = useControlPlane();
let namespace: string;
beforeAll(async () => {
  namespace = await cluster.namespace();
});

type Rule = { rule: string; message: string };
type Schema = {
  type: string;
  enum?: readonly string[];
  properties?: Record<string, Schema>;
  required?: readonly string[];
  items?: Schema;
  'x-kubernetes-validations'?: readonly Rule[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
};
type Step = { name: string; in: Schema };
type Leaf = { path: string; steps: Step[]; schema: Schema };

const kinds = [...tenantKinds, ...clusterKinds];
const schemaOf = Object.fromEntries(kinds.map((each) => [each.kind, structural(each.spec)]));
const projectRef = { name: 'shop' };
const samples: Record<string, object> = {
  ...{
    Project: {},
    SigningKey: { projectRef },
    Recipe: { projectRef, transformChain: 'lossless' },
  },
  ...{ WatermarkPreset: { projectRef, fileSlug: 'a' }, ImageService: full },
};

function leavesOf(schema: Schema, path: string, steps: Step[]): Leaf[] {
  if (schema.items !== undefined) return leavesOf(schema.items, `${path}[0]`, steps);
  if (schema.properties === undefined) return [{ path, steps, schema }];
  return Object.entries(schema.properties).flatMap(([name, child]) =>
    leavesOf(child, `${path}.${name}`, [...steps, { name, in: schema }]),
  );
}

/** A value with all required fields, so that the API server evaluates the rules. */
function fill(schema: Schema): unknown {
  if (schema.type === 'array') return [fill(schema.items as Schema)];
  if (schema.type === 'integer') return 1;
  if (schema.type === 'string') return schema.enum?.[0] ?? 'x';
  const { required = [], properties = {} } = schema;
  return Object.fromEntries(required.map((name) => [name, fill(properties[name] as Schema)]));
}

function withLeaf(object: unknown, [step, ...rest]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  const child = step.in.properties?.[step.name] as Schema;
  const before = (object as Record<string, unknown>)[step.name] ?? fill(child);
  const isList = child.type === 'array';
  const [first, ...others] = isList ? (before as unknown[]) : [before];
  const after = withLeaf(first ?? fill(child.items as Schema), rest, value);
  return { ...(object as object), [step.name]: isList ? [after, ...others] : after };
}

type Refusal = { details?: { causes?: { field: string; message: string }[] } };

async function causesOf(kind: string, spec: unknown) {
  const { plural } = kinds.find((each) => each.kind === kind) as (typeof kinds)[number];
  const { status, body } = await kubeRequest(cluster.plane(), {
    ...{ method: 'POST', path: pathOf(plural) },
    body: { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name: 'x' }, spec },
  });
  expect(status, JSON.stringify(body)).toBe(422);
  return (body as Refusal).details?.causes ?? [];
}

const pathOf = (plural: string) =>
  `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plural}?dryRun=All`;

/** Fields that accept any text. */
const free = ['annotations', 'podAnnotations', 'serviceAccountAnnotations', 'apiAnnotations']
  .concat(['deliveryAnnotations', 'extraEnv'])
  .map((list) => `${list}[0].value`);

describe.each(kinds.map(({ kind }) => kind))('the fields of a %s', (kind) => {
  const all = leavesOf(schemaOf[kind] as Schema, 'spec', []);
  const ruled = all.filter(({ schema }) => schema['x-kubernetes-validations'] !== undefined);

  it('have allowed values, are free text, or have rules with a message', () => {
    const others = all
      .filter((leaf) => !ruled.includes(leaf) && leaf.schema.enum === undefined)
      .filter(({ path }) => !free.some((end) => path.endsWith(end)) && path !== 'spec.affinity');
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  it.each(ruled.map((leaf) => [leaf.path, leaf] as const))(
    'reject an invalid %s in our words only',
    async (path, { steps, schema }) => {
      const rules = schema['x-kubernetes-validations'] ?? [];
      const text = rules[0]?.rule === "self != ''" ? '' : '\n%\0';
      const value = schema.type === 'integer' ? -99_999 : text;
      const causes = await causesOf(kind, withLeaf(samples[kind], steps, value));
      const said = causes.filter(({ field }) => field === path).map(({ message }) => message);
      const ours = said.filter((each) => rules.some(({ message }) => each.endsWith(message)));
      expect(ours, 'in our words').not.toEqual([]);
      expect(said, 'and in no others').toEqual(ours);
    },
  );

  it.each(all.filter(({ schema }) => schema.enum).map((leaf) => [leaf.path, leaf] as const))(
    'name the field if %s is not one of its allowed values',
    async (path, { steps }) => {
      const causes = await causesOf(kind, withLeaf(samples[kind], steps, 'Nonsense'));
      expect(causes.map(({ field }) => field)).toContain(path);
    },
  );
});

const image = 'https://shop.example/logo.png';
const secretName = 'hook';
const sha256 = '0'.repeat(64);

/** Specs that a schema rejects by more than a pattern, with the kind and the field. */
const refined: [kind: string, field: string, spec: object][] = [
  ...[
    ' Shop',
    'Shop ',
    '\u00a0Shop',
    'Shop\ufeff',
    'Sh\u202eop',
    'Sh\u0000op',
    '\u{1f4f7}'.repeat(121),
  ].map((displayName): [string, string, object] => [
    'Project',
    'spec.displayName',
    { displayName },
  ]),
  ['WatermarkPreset', 'spec.displayName', { projectRef, fileSlug: 'a', displayName: ' a' }],
  ['Recipe', 'spec.displayName', { projectRef, transformChain: 'lossless', displayName: ' a' }],
  ['Recipe', 'spec.transformChain', { projectRef, transformChain: 'resize/9x9/resize/8x8' }],
  ...['1000.1', '5000', '9999.999999', '-1', '1.1234567'].map(
    (pricingMultiplier): [string, string, object] => [
      ...(['Project', 'spec.staff.pricingMultiplier', { staff: { pricingMultiplier } }] as const),
    ],
  ),
  ...[
    'https://',
    'https:///path',
    'https://shop.example:65536',
    'https://shop.example:99999/hook',
    'https://a:b@shop.example',
    'https://shop.example/#hook',
    'https://bücher.example',
    'https://shop.example/a b',
    'https://1.2.3',
    'https://shop.1',
    'https://0x7f.0.0.0x1/',
    'https://256.1.1.1:443',
    'https://1.2.3.4.5/hook',
  ].map((url): [string, string, object] => [
    ...(['Project', 'spec.callback.url', { callback: { url, secretName } }] as const),
  ]),
  ...['a\u0000b', '\u0000', ''].flatMap((rotationTrigger): [string, string, object][] => {
    const callback = { url: 'https://shop.example', secretName, rotationTrigger };
    return [
      ['SigningKey', 'spec.rotationTrigger', { projectRef, rotationTrigger }],
      ['Project', 'spec.callback.rotationTrigger', { callback }],
    ];
  }),
  ...[
    'https://shop.example:65536',
    'https://shop.example:443',
    'http://shop.example:80',
    'https://shop.1',
    'https://256.1.1.1',
    'https://Shop.example',
  ].map((origin): [string, string, object] => [
    ...(['Project', 'spec.corsAllowedOrigins[0]', { corsAllowedOrigins: [origin] }] as const),
  ]),
  ['Project', 'spec.corsAllowedOrigins', { corsAllowedOrigins: ['*', '*'] }],
  ...['8192Ti', '9007199254740992', '999999999999999Ti'].map(
    (storageHardLimit): [string, string, object] => [
      ...(['Project', 'spec.staff.storageHardLimit', { staff: { storageHardLimit } }] as const),
    ],
  ),
  [
    ...(['ImageService', 'spec.api.resources.limits.memory'] as const),
    { ...full, api: { resources: { limits: { memory: '8192Ti' } } } },
  ],
  ...['127Mi', '134M', '1k'].map((memory): [string, string, object] => [
    ...(['ImageService', 'spec.workers.render.resources.limits.memory'] as const),
    { ...full, workers: { render: { resources: { limits: { memory } } } } },
  ]),
  [
    ...(['ImageService', 'spec.delivery.resources'] as const),
    {
      ...full,
      delivery: { resources: { requests: { memory: '1025Mi' }, limits: { memory: '1Gi' } } },
    },
  ],
  ['Project', 'spec', { warmPresets: ['a'], resolutionPresets: [] }],
  [
    ...(['Project', 'spec.resolutionPresets[0].chain'] as const),
    { resolutionPresets: [{ name: 'a', chain: 'preset:b' }] },
  ],
  ['WatermarkPreset', 'spec', { projectRef }],
  ['WatermarkPreset', 'spec.image', { projectRef, image: {} }],
  ['WatermarkPreset', 'spec.image', { projectRef, image: { url: image } }],
  ...[
    'http://shop.example/a.png',
    'https://',
    'https://shop.example:6443/a.png',
    'https://shop.example:44',
    'https://10.0.0.1:8080/a.png',
    'https://[::1]:80',
    'https://me@shop.example/a.png',
    'https://me:secret@shop.example:443/a.png',
    'https://shop.example:443@10.0.0.1/',
    'https://shop.example/a b',
  ].map((url): [string, string, object] => [
    ...(['WatermarkPreset', 'spec.image.url', { projectRef, image: { url, sha256 } }] as const),
  ]),
  ['WatermarkPreset', 'spec.image.sha256', { projectRef, image: { url: image, sha256: 'a' } }],
  ...['https://api.example:70000', 'https://1.2.3.400', 'https://api.1:80'].map(
    (baseURL): [string, string, object] => [
      ...(['ImageService', 'spec.baseURL', { ...full, baseURL }] as const),
    ],
  ),
  ...['http://', 'http://:80', 'http://otel:65536/v1', 'http://a.256/', 'http://[::g]:1'].map(
    (otlpEndpoint): [string, string, object] => [
      ...(['ImageService', 'spec.otlpEndpoint', { ...full, otlpEndpoint }] as const),
    ],
  ),
  ...['10.0.0.0/33', '10.0.0.256', 'a::b::c', '::/0', '10.0.0.0/8/8'].map(
    (proxy): [string, string, object] => [
      ...(['ImageService', 'spec.trustedProxies[0]'] as const),
      { ...full, trustedProxies: [proxy] },
    ],
  ),
  ...['10.0.0.0/33', '10.0.0.0', '1.2.3/24'].map((cidr): [string, string, object] => [
    ...(['ImageService', 'spec.networkPolicy.peers[0].cidr'] as const),
    { ...full, networkPolicy: { peers: [{ party: 'Database', cidr }] } },
  ]),
  ...[0, 65_536].map((port): [string, string, object] => [
    ...(['ImageService', 'spec.networkPolicy.peers[0].port'] as const),
    { ...full, networkPolicy: { peers: [{ party: 'Storage', namespace: 'a', port }] } },
  ]),
  [
    ...(['ImageService', 'spec.networkPolicy.peers[0]'] as const),
    {
      ...full,
      networkPolicy: { peers: [{ party: 'Metrics', namespace: 'a', port: 9090 }] },
    },
  ],
  ['ImageService', 'spec.routing', { ...full, routing: { mode: 'Gateway' } }],
  ['ImageService', 'spec.storage', { ...full, storage: { contentBucket: 'tintype-ingest' } }],
  ['ImageService', 'spec.workers.ingest', { ...full, workers: { ingest: { min: 2, max: 1 } } }],
  [
    'ImageService',
    'spec.extraEnv[0]',
    { ...full, extraEnv: [{ name: 'TINTYPE_BASE_URL', value: '' }] },
  ],
  ['ImageService', 'spec.cdn', { ...full, cdn: { kind: 'HTTPPurge' } }],
  ['ImageService', 'spec.scanner', { ...full, scanner: { kind: 'HTTP' } }],
];

describe('the API server and the operator', () => {
  it.each(refined)('both reject in a %s, at %s: %j', async (kind, field, spec) => {
    const [known] = kinds.filter((each) => each.kind === kind);
    expect(known?.spec.safeParse(spec).success, 'the operator agrees').toBe(false);
    const found = (await causesOf(kind, spec)).filter((cause) => cause.field === field);
    expect(found).not.toEqual([]);
    const words = found.map(({ message }) => message).join();
    expect(words).toMatch(/must |only once|Too long/);
  });

  it.each([
    [
      'Project',
      { displayName: '\u{1f4f7}'.repeat(120), staff: { pricingMultiplier: '1000.000000' } },
    ],
    [
      'Project',
      { displayName: 'Läden & Söhne 写真', corsAllowedOrigins: ['*', 'http://127.0.0.1:65535'] },
    ],
    ...['', '0', '8191Ti', '9007199254740991'].map((storageHardLimit): [string, object] => [
      ...(['Project', { staff: { storageHardLimit } }] as const),
    ]),
    ...['https://[::1]:65535/hook?a=b%zz', 'https://10.1.2.3', 'https://shop.example:/'].map(
      (url): [string, object] => ['Project', { callback: { url, secretName } }],
    ),
    ...['2026-11\n', 'Bücher \u{1f4f7}\t'].map((rotationTrigger): [string, object] => [
      ...(['SigningKey', { projectRef, rotationTrigger }] as const),
    ]),
    ...[
      'https://shop.example',
      'https://Bücher.example:8443/a@b:80.png?c=d:6443#e',
      'https://1.1.1.1:0443/',
      'https://[2606:4700::1111]:443/a.png',
      'https://shop.example:?a',
    ].map((url): [string, object] => ['WatermarkPreset', { projectRef, image: { url, sha256 } }]),
    ...[
      'http://u:p@otel:4318/v1',
      'http://[fd00::1]:4318',
      'http://10.255.0.9?a',
      'http://é.example/%zz',
    ].map((otlpEndpoint): [string, object] => ['ImageService', { ...full, otlpEndpoint }]),
    [
      'ImageService',
      { ...full, baseURL: 'http://10.0.0.255:0080', dashboardOrigins: ['http://a1:65535'] },
    ],
    [
      'ImageService',
      { ...full, trustedProxies: ['10.0.0.1', 'fd00::/8', '::ffff:10.0.0.0/104', '10.0.0.5/8'] },
    ],
    [
      'ImageService',
      { ...full, networkPolicy: { peers: [{ party: 'Clients', cidr: '0.0.0.0/0' }] } },
    ],
    [
      'ImageService',
      {
        ...full,
        networkPolicy: { peers: [{ party: 'Credentials', cidr: '169.254.169.252/32', port: 988 }] },
      },
    ],
  ])('both accept in a %s: %j', async (kind, spec) => {
    const { spec: schema, plural } = kinds.find((each) => each.kind === kind) as (typeof kinds)[0];
    expect(schema.safeParse(spec)).toMatchObject({ success: true });
    const body = { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name: 'x' }, spec };
    const call = { method: 'POST', path: pathOf(plural), body };
    expect(await kubeRequest(cluster.plane(), call)).toMatchObject({ status: 201 });
  });
});
