import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { kubeApply, kubeRequest } from '../support/kube-request.ts';
import { useControlPlane } from '../support/shared-control-plane.ts';

const cluster = useControlPlane();
const { plane } = cluster;
let namespace: string;
beforeAll(async () => {
  namespace = await cluster.namespace();
});

const plurals = {
  ...{ Project: 'projects', SigningKey: 'signingkeys' },
  ...{ WatermarkPreset: 'watermarkpresets', Recipe: 'recipes' },
} as const;
type Kind = keyof typeof plurals;

const projectRef = { name: 'shop' };
const sha256 = '0'.repeat(64);

/** What the API server answers to `kubectl apply`: which field, and our words where the rule is ours. */
const wrong: [what: string, kind: Kind, spec: object, field: string, words: string][] = [
  [
    'a preset that is not there',
    'Project',
    { warmPresets: ['thumb'], resolutionPresets: [] },
    'spec',
    '`spec.warmPresets` must name items of `spec.resolutionPresets`',
  ],
  [
    'an unknown access',
    'Project',
    { deliveryAccess: 'Private' },
    'spec.deliveryAccess',
    '"Protected"',
  ],
  ['a slug in capitals', 'Project', { slug: 'Shop' }, 'spec.slug', 'should match'],
  [
    'a number for a multiplier',
    'Project',
    { staff: { pricingMultiplier: '-1' } },
    'spec.staff.pricingMultiplier',
    'should match',
  ],
  [
    'a callback without TLS',
    'Project',
    { callback: { url: 'http://shop.example', secretName: 'shop' } },
    'spec.callback.url',
    'should match',
  ],
  [
    'two presets of one name',
    'Project',
    {
      resolutionPresets: [
        { name: 'a', chain: 'resize/9x9' },
        { name: 'a', chain: 'resize/8x8' },
      ],
    },
    'spec.resolutionPresets',
    'each name only once',
  ],
  [
    'one origin twice',
    'Project',
    { corsAllowedOrigins: ['https://a.example', 'https://b.example', 'https://a.example'] },
    'spec.corsAllowedOrigins',
    'each item only once',
  ],
  ['no project', 'SigningKey', { rotationDays: 3 }, 'spec.projectRef', 'Required'],
  ['too many days', 'SigningKey', { projectRef, rotationDays: 4000 }, 'spec.rotationDays', '3650'],
  [
    'neither file nor image',
    'WatermarkPreset',
    { projectRef },
    'spec',
    'must have `fileSlug` or `image`',
  ],
  [
    'two images',
    'WatermarkPreset',
    {
      projectRef,
      image: { url: 'https://a.example/a.png', sha256, secretRef: { name: 'a', key: 'b' } },
    },
    'spec.image',
    'must have exactly one of `configMapRef`, `secretRef` and `url`',
  ],
  [
    'a URL without a digest',
    'WatermarkPreset',
    { projectRef, image: { url: 'https://a.example/a.png' } },
    'spec.image',
    '`url` and `sha256` must stand together',
  ],
  [
    'too strong',
    'WatermarkPreset',
    { projectRef, fileSlug: 'a', opacityPercent: 101 },
    'spec.opacityPercent',
    '100',
  ],
  ['no chain', 'Recipe', { projectRef }, 'spec.transformChain', 'Required'],
];

const path = (kind: Kind, name = '') =>
  `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plurals[kind]}${name && `/${name}`}`;

type Refusal = { message: string; details: { causes: { field: string; message: string }[] } };

function newObject(kind: Kind, spec: object, name = `w${randomBytes(5).toString('hex')}`) {
  return { apiVersion: 'tintype.dev/v1alpha1', kind, metadata: { name, namespace }, spec };
}

async function apply(kind: Kind, object: ReturnType<typeof newObject>) {
  const { status, body } = await kubeRequest(plane(), {
    ...{
      method: 'PATCH',
      path: `${path(kind, object.metadata.name)}?fieldManager=test&force=true`,
    },
    ...{ content_type: 'application/apply-patch+yaml', body: object },
  });
  return { status, refusal: body as Refusal };
}

describe('kubectl apply', () => {
  it.each(wrong)('refuses %s in a %s, and says where', async (_what, kind, spec, field, words) => {
    const { status, refusal } = await apply(kind, newObject(kind, spec));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(refusal.message).toContain(field);
    expect(refusal.message).toContain(words);
  });

  it('refuses what may not change, and says so', async () => {
    const changes: [Kind, object, object, string][] = [
      ['Project', { slug: 'one' }, { slug: 'two' }, '`spec.slug` is immutable'],
      ['Project', {}, { slug: 'two' }, '`spec.slug` is immutable'],
      ...(['SigningKey', 'WatermarkPreset', 'Recipe'] as const).map(
        (kind): [Kind, object, object, string] => {
          const rest = {
            WatermarkPreset: { fileSlug: 'a' },
            Recipe: { transformChain: 'resize/9x9' },
          };
          const own = kind === 'SigningKey' ? {} : rest[kind];
          const moved = { ...own, projectRef: { name: 'other' } };
          return [kind, { ...own, projectRef }, moved, '`spec.projectRef.name` is immutable'];
        },
      ),
    ];
    for (const [kind, first, second, words] of changes) {
      const object = newObject(kind, first);
      await kubeApply(plane(), path(kind, object.metadata.name), object);
      const { status, refusal } = await apply(kind, { ...object, spec: second });
      expect({ kind, status, message: refusal.message }).toEqual({
        ...{ kind, status: 422 },
        message: expect.stringContaining(words),
      });
    }
  });
});
