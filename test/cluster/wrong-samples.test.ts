import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseChain } from '../../runtime/core/delivery/chain.ts';
import { TRANSFORM_CHAIN_LENGTH_MAX } from '../../runtime/core/limits.ts';
import { spellings } from '../support/chains.ts';
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

/**
 * What the API server answers to `kubectl apply`: the field, and our message if the rule is ours.
 */
type Wrong = [what: string, kind: Kind, spec: object, field: string, words?: string];
const wrong: Wrong[] = [
  [
    'a preset that is not there',
    'Project',
    { warmPresets: ['thumb'], resolutionPresets: [] },
    'spec',
    '`spec.warmPresets` must name items of `spec.resolutionPresets`',
  ],
  ['an unknown access', 'Project', { deliveryAccess: 'Private' }, 'spec.deliveryAccess'],
  [
    'a slug in capitals',
    'Project',
    { slug: 'Shop' },
    'spec.slug',
    'must be a DNS label: lower case',
  ],
  [
    'a number for a multiplier',
    'Project',
    { staff: { pricingMultiplier: '-1' } },
    'spec.staff.pricingMultiplier',
    'must be a number in quotes such as "1.5": 0 to 1000, at most 6 decimals',
  ],
  [
    'a callback without TLS',
    'Project',
    { callback: { url: 'http://shop.example', secretName: 'shop' } },
    'spec.callback.url',
    'must be empty for none, or an https URL of at most 2048 characters, its host in ASCII',
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
  [
    'what is no origin',
    'Project',
    { corsAllowedOrigins: ['https://a.example', 'not an origin'] },
    'spec.corsAllowedOrigins[1]',
    'must be an origin such as https://shop.example, or * for all',
  ],
  [
    'an origin with a path',
    'Project',
    { corsAllowedOrigins: ['https://a.example/'] },
    'spec.corsAllowedOrigins[0]',
    'must be an origin',
  ],
  [
    'what is no chain in a preset',
    'Project',
    { resolutionPresets: [{ name: 'a', chain: 'nonsense!! ///' }] },
    'spec.resolutionPresets[0].chain',
    'must be a transform chain, for example resize/640x480/format/webp',
  ],
  [
    'a preset of a preset',
    'Project',
    { resolutionPresets: [{ name: 'a', chain: 'quality/80/preset:b' }] },
    'spec.resolutionPresets[0].chain',
    'must be a transform chain without preset:, as presets do not nest',
  ],
  [
    'what is no chain in a list',
    'Project',
    { allowedTransformChains: ['resize/9x9', 'originals'] },
    'spec.allowedTransformChains[1]',
    'must be a transform chain',
  ],
  ...['frobnicate/1', 'RESIZE/9x9', ' ', 'resize/0x0', 'resize/9x8193', 'quality/101', '/'].map(
    (transformChain): Wrong => [
      `the chain ${JSON.stringify(transformChain)}`,
      'Recipe',
      { projectRef, transformChain },
      'spec.transformChain',
      'must be a transform chain, for example resize/640x480/format/webp',
    ],
  ),
  [
    'an operation twice',
    'Recipe',
    { projectRef, transformChain: 'resize/9x9/format/webp/resize/8x8' },
    'spec.transformChain',
    'must have each operation of a transform chain only once',
  ],
  ['no project', 'SigningKey', { rotationDays: 3 }, 'spec.projectRef'],
  [
    'too many days',
    'SigningKey',
    { projectRef, rotationDays: 4000 },
    'spec.rotationDays',
    'must be a whole number of days, 1 to 3650',
  ],
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
    '`url` and `sha256` must be set together',
  ],
  [
    'too strong',
    'WatermarkPreset',
    { projectRef, fileSlug: 'a', opacityPercent: 101 },
    'spec.opacityPercent',
    'must be a whole number, 0 to 100',
  ],
  ['no chain', 'Recipe', { projectRef }, 'spec.transformChain'],
  ...['x..y', 'x.-y', 'x-.y', '.x', 'x.', '-x', 'Shop', 'a_b'].flatMap((name): Wrong[] => {
    const hook = { url: 'https://shop.example', secretName: name };
    const image = { configMapRef: { name, key: 'logo' } };
    const words = 'a-z, 0-9, "-" and ".", with a letter or digit at the ends';
    return [
      [
        `a callback Secret named ${name}`,
        ...(['Project', { callback: hook }, 'spec.callback.secretName'] as const),
        `must be the name of a Secret: ${words}`,
      ],
      [
        `an image in the ConfigMap ${name}`,
        ...(['WatermarkPreset', { projectRef, image }, 'spec.image.configMapRef.name'] as const),
        `must be the name of a ConfigMap: ${words}`,
      ],
      [
        `the project ${name}`,
        ...(['SigningKey', { projectRef: { name } }, 'spec.projectRef.name'] as const),
        `must be the name of a Project: ${words}`,
      ],
    ];
  }),
  [
    'a name that is too long',
    'SigningKey',
    { projectRef: { name: 'a'.repeat(254) } },
    'spec.projectRef.name',
  ],
];

const image = { configMapRef: { name: 'logo', key: 'logo.png' } };
/** Fields that default to the name of the resource. */
const defaulted: [Kind, string, { longest: number; spec: object; given: string }][] = [
  [
    'Recipe',
    'displayName',
    { longest: 120, spec: { projectRef, transformChain: 'resize/9x9' }, given: 'Card' },
  ],
  [
    'WatermarkPreset',
    'displayName',
    { longest: 120, spec: { projectRef, fileSlug: 'logo' }, given: 'Corner' },
  ],
  [
    'WatermarkPreset',
    'fileSlug',
    { longest: 128, spec: { projectRef, image, displayName: 'Corner' }, given: 'logo' },
  ],
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
  it.each(wrong)(
    'rejects %s in a %s, and says where',
    async (_what, kind, spec, field, words = '') => {
      const { status, refusal } = await apply(kind, newObject(kind, spec));
      expect(status).toBe(422);
      const causes = refusal.details.causes.filter((cause) => cause.field === field);
      expect(causes.map(({ message }) => message).join('\n')).toContain(words);
      expect(causes).not.toEqual([]);
    },
  );

  it('accepts every chain that the parser accepts, and as many as are allowed', async () => {
    const sample = fc.sample(spellings, 400).flat();
    const texts = [...new Set(sample)].filter((text) => text.length <= TRANSFORM_CHAIN_LENGTH_MAX);
    const longest = texts.toSorted((one, other) => other.length - one.length);
    for (const list of [texts.slice(0, 64), longest.slice(0, 64)]) {
      const presets = list.filter((chain) => parseChain(chain)?.preset === undefined).slice(0, 32);
      const spec = {
        allowedTransformChains: list,
        resolutionPresets: presets.map((chain, index) => ({ name: `p${index}`, chain })),
        corsAllowedOrigins: ['*', ...list.map((_, at) => `https://a${at}.example:8443`)],
      };
      expect(list).toHaveLength(64);
      expect(await apply('Project', newObject('Project', spec))).toMatchObject({ status: 201 });
    }
  });

  it.each(defaulted)(
    'accepts a %s whose name may stand for its %s, and rejects a longer name',
    async (kind, field, { longest, spec, given }) => {
      const [fits, tooLong] = ['n'.repeat(longest), 'n'.repeat(longest + 1)];
      expect(await apply(kind, newObject(kind, spec, fits))).toMatchObject({ status: 201 });
      const { status, refusal } = await apply(kind, newObject(kind, spec, tooLong));
      expect(status).toBe(422);
      const words = `must be set where \`metadata.name\`, which stands for it, has more than ${longest} characters`;
      expect(refusal.details.causes).toMatchObject([
        { field: `spec.${field}`, message: expect.stringContaining(words) },
      ]);
      const set = newObject(kind, { ...spec, [field]: given }, tooLong);
      expect(await apply(kind, set)).toMatchObject({ status: 201 });
      const again = await apply(kind, newObject(kind, spec, tooLong));
      expect(again.status, 'the field is taken away').toBe(422);
    },
  );

  it.each(['shop.main', 'n'.repeat(64)])(
    'accepts a Project of the name %s only with a slug, as the name is no valid slug',
    async (name) => {
      const { status, refusal } = await apply('Project', newObject('Project', {}, name));
      expect(status).toBe(422);
      const words =
        'must be set where `metadata.name`, which stands for it, is not a DNS label of at most 63 characters';
      expect(refusal.details.causes).toMatchObject([
        { field: 'spec.slug', message: expect.stringContaining(words) },
      ]);
      const set = newObject('Project', { slug: 'shop' }, name);
      expect(await apply('Project', set)).toMatchObject({ status: 201 });
    },
  );

  it('rejects changes to immutable fields, and names the field', async () => {
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
