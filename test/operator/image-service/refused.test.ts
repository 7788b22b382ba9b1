import { describe, expect, it } from 'vitest';
import { imageServiceSpec } from '../../../operator/image-service/schema.ts';
import { printIssues } from '../../../operator/print-issues.ts';
import { kubeRequest } from '../../support/kube-request.ts';
import { useControlPlane } from '../../support/shared-control-plane.ts';
import { full, least } from './samples.ts';

const { plane, namespace } = useControlPlane();

const COLLECTION = (place: string) =>
  `/apis/tintype.dev/v1alpha1/namespaces/${place}/imageservices`;

function resource(spec: object, name = 'main') {
  return { apiVersion: 'tintype.dev/v1alpha1', kind: 'ImageService', metadata: { name }, spec };
}

/** Invalid resources: what is wrong, the spec, the field, and the message. */
const wrong: [string, object, string, RegExp][] = [
  ['no image', { ...least, image: undefined }, 'spec.image', /spec\.image/],
  ...['tintype:1:2', 'registry.example.com/tintype/', 'tintype@latest'].map(
    (image): [string, object, string, RegExp] => [
      `the image ${image}`,
      { ...least, image },
      'spec.image',
      /must be a container image such as registry\.example\.com\/tintype:1\.2\.3/,
    ],
  ),
  [
    'an origin with a path',
    { ...least, baseURL: 'https://a.example/v1' },
    'spec.baseURL',
    /must be an origin such as https:\/\/api\.example\.com, without a path/,
  ],
  ...['https://a..b', 'https://a.-b', 'https://a-.example'].map(
    (baseURL): [string, object, string, RegExp] => [
      `the origin ${baseURL}`,
      { ...least, baseURL },
      'spec.baseURL',
      /must be an origin such as/,
    ],
  ),
  ...['Example.com/disk', 'a/b/c', `${'a'.repeat(64)}`, 'example..com/disk'].map(
    (name): [string, object, string, RegExp] => [
      `the label ${name}`,
      { ...least, podLabels: [{ name, value: '' }] },
      'spec.podLabels[0].name',
      /must be a label name such as disk or example\.com\/disk/,
    ],
  ),
  ...['Example.com/a/b', `${'a'.repeat(64)}`, 'Example..com/a'].map(
    (name): [string, object, string, RegExp] => [
      `the annotation ${name}`,
      { ...least, podAnnotations: [{ name, value: '' }] },
      'spec.podAnnotations[0].name',
      /must be an annotation name such as example\.com\/contact/,
    ],
  ),
  ...['a..b', 'ab', 'A-bucket'].map((ingestBucket): [string, object, string, RegExp] => [
    `the bucket ${ingestBucket}`,
    { ...least, storage: { ingestBucket } },
    'spec.storage.ingestBucket',
    /must be a bucket name: 3 to 63/,
  ]),
  [
    'more min than max',
    { ...least, workers: { ingest: { min: 5, max: 2 } } },
    'spec.workers.ingest',
    /`max` must not be below `min`/,
  ],
  [
    'a variable that a field decides',
    { ...least, extraEnv: [{ name: 'TINTYPE_BASE_URL', value: 'x' }] },
    'spec.extraEnv[0]',
    /`name` must not be TINTYPE_BASE_URL: a field of the ImageService decides it/,
  ],
  [
    'a variable that nobody reads',
    { ...least, extraEnv: [{ name: 'TINTYPE_RATE_WRITE', value: '1' }] },
    'spec.extraEnv[0]',
    /`name` must not be TINTYPE_RATE_WRITE: .*, or it has no place in an installation/,
  ],
  [
    'a variable of somebody else',
    { ...least, extraEnv: [{ name: 'LD_PRELOAD', value: 'x' }] },
    'spec.extraEnv[0].name',
    /must be the name of a variable of the configuration/,
  ],
  [
    'a variable with two values',
    { ...least, extraEnv: [{ name: 'TINTYPE_RATE_WRITES' }] },
    'spec.extraEnv[0]',
    /must have either `value` or `secretKeyRef`/,
  ],
  [
    'a Secret of no name',
    { ...least, databaseSecretRef: { name: 'x..y' } },
    'spec.databaseSecretRef.name',
    /must be the name of a Secret: a-z, 0-9/,
  ],
  [
    'a certificate of no name',
    { ...least, tls: { apiSecretName: 'x.-y' } },
    'spec.tls.apiSecretName',
    /must be the name of a Secret: a-z, 0-9/,
  ],
  [
    'a class of no name',
    { ...least, ingressClassName: 'x.' },
    'spec.ingressClassName',
    /must be the name of an IngressClass: a-z, 0-9/,
  ],
  [
    'a Gateway without one',
    { ...least, routing: { mode: 'Gateway' } },
    'spec.routing',
    /`gatewayRef` must be set with `mode` 'Gateway'/,
  ],
  [
    'a cache without an address',
    { ...least, cdn: { kind: 'HTTPPurge' } },
    'spec.cdn',
    /`urls` must be set with `kind` 'HTTPPurge'/,
  ],
  ['a CDN without its zone', { ...least, cdn: { kind: 'Fastly' } }, 'spec.cdn', /`zone` must be/],
  [
    'several addresses of one API',
    {
      ...least,
      cdn: { kind: 'Fastly', zone: 'z', urls: ['https://a.example', 'https://b.example'] },
    },
    'spec.cdn',
    /`urls` must have one item/,
  ],
  [
    'a scanner without its address',
    { ...least, scanner: { kind: 'HTTP' } },
    'spec.scanner',
    /`url` must be set/,
  ],
  [
    'two scores of one flag',
    {
      ...least,
      scanner: { kind: 'HTTP', url: 'http://model/', thresholds: ['nudity=0.9', 'nudity=0.8'] },
    },
    'spec.scanner.thresholds',
    /each flag only once/,
  ],
  [
    'a cache with a comma in its address',
    { ...least, cdn: { kind: 'HTTPPurge', urls: ['http://varnish/a,b'] } },
    'spec.cdn.urls[0]',
    /must be a URL without a comma/,
  ],
  [
    'what pods refuse in production',
    { ...least, extraEnv: [{ name: 'TINTYPE_CALLBACK_EGRESS', value: 'any' }] },
    'spec.extraEnv[0]',
    /`name` must not be TINTYPE_CALLBACK_EGRESS/,
  ],
  [
    'one bucket for both',
    { ...least, storage: { ingestBucket: 'one-bucket', contentBucket: 'one-bucket' } },
    'spec.storage',
    /`ingestBucket` and `contentBucket` must be two buckets/,
  ],
  [
    'the usual bucket for images as that for uploads',
    { ...least, storage: { ingestBucket: 'tintype-content' } },
    'spec.storage',
    /`ingestBucket` and `contentBucket` must be two buckets/,
  ],
  [
    'a peer that is two things',
    {
      ...least,
      networkPolicy: { peers: [{ party: 'AMQP', cidr: '10.0.0.0/8', namespace: 'data' }] },
    },
    'spec.networkPolicy.peers[0]',
    /must have either `cidr`, or `namespace`/,
  ],
  [
    'a port of who calls',
    { ...least, networkPolicy: { peers: [{ party: 'Clients', namespace: 'a', port: 80 }] } },
    'spec.networkPolicy.peers[0]',
    /`port` must not be set with `party` 'Clients' and 'Metrics'/,
  ],
];

describe('an invalid ImageService', () => {
  it.each(wrong)(
    'is rejected with %s, in words that say what to do',
    async (_name, spec, path, words) => {
      const place = await namespace();
      const call = { method: 'POST', path: COLLECTION(place), body: resource(spec) };
      const { status, body } = await kubeRequest(plane(), call);
      expect(status).toBe(422);
      expect(body['message']).toMatch(words);
      expect(fields(body)).toContain(path);
      expect(imageServiceSpec.safeParse(spec).success, 'the operator agrees').toBe(false);
    },
  );

  it.each(['a.b', '1main', 'm'.repeat(30)])('is rejected under the name %s', async (name) => {
    const place = await namespace();
    const call = { method: 'POST', path: COLLECTION(place), body: resource(least, name) };
    const { status, body } = await kubeRequest(plane(), call);
    expect(status).toBe(422);
    expect(body['message']).toMatch(/`metadata.name` must have at most 29/);
  });
});

/** Values of `extraEnv` with which a process would not start. */
const unfit: [string, string, RegExp][] = [
  ['TINTYPE_PROXY_MAX_BYTES', 'banana', /whole number/],
  ['TINTYPE_SVG_UPLOADS', 'perhaps', /on/],
  ['TINTYPE_PROVIDER_B_URL', 'nowhere', /URL/],
];

/** Amounts of memory that Kubernetes rejects in its own words, or that are too small to run. */
const small: [object, RegExp][] = [
  [{ requests: { memory: '2Gi' }, limits: { memory: '1Gi' } }, /must not be below `requests/],
  [{ limits: { memory: '64Mi' } }, /must be 128Mi or more/],
];

describe('the memory of a pod', () => {
  it.each(small)('must not be %o, and the message names the field', (resources, words) => {
    const { error } = imageServiceSpec.safeParse({ ...least, workers: { render: { resources } } });
    const message = error && printIssues(error);
    expect(message).toMatch(/^`spec\.workers\.render\.resources\.limits\.memory`: /);
    expect(message).toMatch(words);
  });
});

describe('the value of an extraEnv variable', () => {
  it.each(unfit)('%s must not be %s, and the message names the field', (name, value, words) => {
    const extraEnv = [
      { name: 'OTEL_EXPORTER_OTLP_TIMEOUT', value: 'x' },
      { name, value },
    ];
    const { error } = imageServiceSpec.safeParse({ ...least, extraEnv });
    const message = error && printIssues(error);
    expect(message).toMatch(/^`spec\.extraEnv\[1\]\.value`: /);
    expect(message).toMatch(words);
  });

  it('may be empty', () => {
    const extraEnv = [{ name: 'TINTYPE_PROXY_MAX_BYTES', value: '' }];
    expect(imageServiceSpec.safeParse({ ...least, extraEnv }).success).toBe(true);
  });
});

const kept: [string, object, RegExp][] = [
  ['deliveryRootDomain', { ...full, deliveryRootDomain: 'other.example.com' }, /every URL/],
  [
    'storage.contentBucket',
    { ...full, storage: { ...full.storage, contentBucket: 'another-bucket' } },
    /would be lost/,
  ],
  ['storage.ingestBucket', { ...full, storage: undefined }, /would be lost/],
];

describe('immutable fields', () => {
  it.each(kept)(
    'spec.%s rejects a change, while the image may change',
    async (field, changed, words) => {
      const place = await namespace();
      const path = COLLECTION(place);
      const made = await kubeRequest(plane(), { method: 'POST', path, body: resource(full) });
      expect(made.status).toBe(201);
      const body = { ...made.body, spec: changed };
      const put = await kubeRequest(plane(), { method: 'PUT', path: `${path}/main`, body });
      expect(put.status).toBe(422);
      expect(put.body['message']).toMatch(words);
      expect(put.body['message']).toContain(`\`spec.${field}\` is immutable`);
      const same = { ...made.body, spec: { ...full, image: 'tintype:2' } };
      const taken = await kubeRequest(plane(), { method: 'PUT', path: `${path}/main`, body: same });
      expect(taken.status).toBe(200);
    },
  );
});

it('Punycode label prefixes, annotation prefixes in capitals and AWS bucket names are accepted', async () => {
  const spec = {
    ...least,
    podLabels: [{ name: 'xn--bcher-kva.example/Disk_1.a', value: '' }],
    podAnnotations: [{ name: 'Example.COM/Contact', value: '' }],
    storage: { ingestBucket: 'in.example-1.org', contentBucket: 'a-.-b' },
  };
  const call = { method: 'POST', path: COLLECTION(await namespace()), body: resource(spec) };
  expect((await kubeRequest(plane(), call)).status).toBe(201);
  expect(imageServiceSpec.safeParse(spec).success, 'the operator agrees').toBe(true);
});

describe('changing the bucket names of an ImageService', () => {
  const usual = { ingestBucket: 'tintype-ingest', contentBucket: 'tintype-content' };
  const owned = { ...least, storageSecretRef: undefined };

  it.each([
    [422, 'another name', least, { ...least, storage: { ingestBucket: 'another-bucket' } }],
    [422, 'another name', owned, { ...owned, storage: { contentBucket: 'another-bucket' } }],
    [200, 'its usual name', least, { ...least, storage: usual }],
    [200, 'no name any more', { ...owned, storage: usual }, owned],
    [422, 'what the Secret holds', { ...least, storage: usual }, least],
  ])('answers %s to %s', async (code, _name, before, after) => {
    const path = COLLECTION(await namespace());
    const made = await kubeRequest(plane(), { method: 'POST', path, body: resource(before) });
    expect(made.status).toBe(201);
    const body = { ...made.body, spec: after };
    const { status } = await kubeRequest(plane(), { method: 'PUT', path: `${path}/main`, body });
    expect(status).toBe(code);
  });
});

function fields(body: Record<string, unknown>): string[] {
  const { details } = body as { details?: { causes?: { field: string }[] } };
  return (details?.causes ?? []).map(({ field }) => field);
}

it.each([
  'tintype',
  'tintype:1.2.3',
  'localhost:5000/a/b_c:v1',
  `Registry.example.com:443/a--b/c.d__e:A_b-c.1@sha256:${'0a'.repeat(32)}`,
])('the image %s is accepted', async (image) => {
  const { status } = await kubeRequest(plane(), {
    ...{ method: 'POST', path: `${COLLECTION(await namespace())}?dryRun=All` },
    body: resource({ ...least, image }),
  });
  expect(status).toBe(201);
  expect(imageServiceSpec.safeParse({ ...least, image }).success).toBe(true);
});
