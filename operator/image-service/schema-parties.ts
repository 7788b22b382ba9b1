/** The other parties of an installation: storage, identity, CDN, scanner, staff. Parts of the ImageService schema. */
import { BUCKET_NAME } from '../../runtime/platform/config-types.ts';
import { variables } from '../../runtime/platform/config-variables.ts';
import { alsoChecked, choice, distinct, group, integer, matching, text } from '../fields.ts';
import { webAddress } from './fields.ts';

const { expected, pattern, gap } = BUCKET_NAME;
const bucket = alsoChecked(
  text(expected, { max: 63, pattern }).refine((value) => !gap.test(value), { error: expected }),
  { rule: `!${matching(gap)}`, message: `must be ${expected}` },
);

/** The default bucket names. */
export const usualBuckets = {
  ingestBucket: variables.ingestBucket.default,
  contentBucket: variables.contentBucket.default,
} as const;

export const storage = group(
  '{ endpoint, publicEndpoint, region, addressing, ingestBucket, contentBucket }',
  {
    endpoint: webAddress
      .describe('The URL of the object storage; default TINTYPE_S3_ENDPOINT of the storage Secret.')
      .optional(),
    publicEndpoint: webAddress
      .describe('The URL of the object storage for browsers, if it differs.')
      .optional(),
    region: text('a region', { max: 64, pattern: /^[a-z0-9-]+$/ })
      .describe('Its region; default us-east-1.')
      .optional(),
    addressing: choice(['VirtualHost', 'Path'])
      .describe(
        'Where requests name the bucket: in the host (VirtualHost, default) or the path (Path).',
      )
      .optional(),
    ingestBucket: bucket
      .describe('The bucket for uploads; default tintype-ingest. It cannot be changed later.')
      .optional(),
    contentBucket: bucket
      .describe('The bucket for images; default tintype-content. It cannot be changed later.')
      .optional(),
  },
)
  .refine((it) => bucketOf(it, 'ingestBucket') !== bucketOf(it, 'contentBucket'), {
    error: 'two buckets',
  })
  .describe('The object storage.')
  .meta({
    'x-kubernetes-validations': [
      {
        // Without optionals, whose cost the API server estimates to exceed any budget.
        rule: `has(self.ingestBucket) && has(self.contentBucket) ? self.ingestBucket != self.contentBucket : (!has(self.ingestBucket) || self.ingestBucket != '${usualBuckets.contentBucket}') && (!has(self.contentBucket) || self.contentBucket != '${usualBuckets.ingestBucket}')`,
        message: '`ingestBucket` and `contentBucket` must be two buckets',
      },
    ],
  });

type Buckets = { [Name in keyof typeof usualBuckets]?: string | undefined };

function bucketOf(storage: Buckets, name: keyof typeof usualBuckets): string {
  return storage[name] ?? usualBuckets[name];
}

export const identity = group('{ issuer, jwksURL, audience }', {
  issuer: webAddress.describe('The identity provider of the dashboard: the iss of its tokens.'),
  jwksURL: webAddress.describe('Its keys; default <issuer>/.well-known/jwks.json.').optional(),
  audience: text('a text of 1 to 256 characters', { max: 256 })
    .describe('The aud that tokens must have; unset: it is not checked.')
    .optional(),
}).describe('The identity provider for users of the dashboard.');

const subject = text('the sub of a token, without comma and space', {
  max: 256,
  pattern: /^[^\s,]+$/,
});

export const staff = group('{ api, subjects }', {
  api: choice(['Enabled', 'Disabled'])
    .describe('Whether /v1/staff is served; default Disabled.')
    .optional(),
  subjects: distinct(subject, { expected: 'a list of at most 256 subjects', max: 256 })
    .describe('The sub of each member of staff.')
    .optional(),
}).describe('The API for staff.');

const CDN_RULES = [
  {
    rule: "!has(self.kind) || self.kind != 'HTTPPurge' || (has(self.urls) && self.urls.size() > 0)",
    message: "`urls` must be set with `kind` 'HTTPPurge'",
  },
  {
    rule: "!has(self.kind) || self.kind in ['None', 'HTTPPurge'] || has(self.zone)",
    message: "`zone` must be set with `kind` 'Cloudflare', 'Fastly' and 'CloudFront'",
  },
  {
    rule: "!has(self.urls) || self.urls.size() < 2 || (has(self.kind) && self.kind == 'HTTPPurge')",
    message: "`urls` must have one item, unless `kind` is 'HTTPPurge'",
  },
];

/** Pods receive all caches in one comma-separated list. */
const cacheAddress = alsoChecked(
  webAddress.refine((url) => !url.includes(','), { error: 'a URL without a comma' }),
  { rule: "!self.contains(',')", message: 'must be a URL without a comma' },
);

export const cdn = group('{ kind, urls, zone, method, callsPerMinute }', {
  kind: choice(['None', 'HTTPPurge', 'Cloudflare', 'Fastly', 'CloudFront'])
    .describe(
      'The cache in front of the delivery hosts; default None. TINTYPE_CDN_TOKEN of the keys Secret is the token for Cloudflare, Fastly, or a cache that requires one (HTTPPurge).',
    )
    .optional(),
  urls: distinct(cacheAddress, { expected: 'a list of at most 16 URLs', max: 16 })
    .describe('The caches to send purges to (HTTPPurge), or another address of the CDN’s API.')
    .optional(),
  zone: text('a zone, service or distribution', { max: 128, pattern: /^\S+$/ })
    .describe('Its zone (Cloudflare), service (Fastly) or distribution (CloudFront).')
    .optional(),
  method: choice(['BAN', 'PURGE'])
    .describe('How HTTPPurge purges a cache: BAN by tags (default), or PURGE of a host.')
    .optional(),
  callsPerMinute: integer('a whole number, 1 to 600000', { min: 1, max: 600_000 })
    .describe('Calls per minute that its plan allows; default the limit of the smallest plan.')
    .optional(),
})
  .refine((it) => it.kind !== 'HTTPPurge' || (it.urls ?? []).length > 0, {
    error: 'urls with kind HTTPPurge',
  })
  .refine((it) => !needsZone(it.kind) || it.zone !== undefined, {
    error: 'zone with kind Cloudflare, Fastly and CloudFront',
  })
  .refine((it) => it.kind === 'HTTPPurge' || (it.urls ?? []).length < 2, {
    error: 'one of urls, unless kind is HTTPPurge',
  })
  .describe('The CDN whose cache is purged.')
  .meta({ 'x-kubernetes-validations': CDN_RULES });

function needsZone(kind: string | undefined): boolean {
  return kind !== undefined && kind !== 'None' && kind !== 'HTTPPurge';
}

const flagOf = (threshold: string) => threshold.split('=')[0];

const thresholds = alsoChecked(
  distinct(
    text('flag=score, such as nudity=0.85', {
      max: 64,
      pattern: /^[a-z][a-z0-9_]*=(0|1|0\.[0-9]{1,4})$/,
    }),
    { expected: 'a list of at most 16 thresholds', max: 16 },
  ).refine((items) => new Set(items.map(flagOf)).size === items.length, {
    error: 'each flag only once',
  }),
  {
    rule: "self.all(a, self.exists_one(b, b.startsWith(a.substring(0, a.indexOf('=') + 1))))",
    message: 'each flag only once',
  },
);

export const scanner = group('{ kind, url, thresholds }', {
  kind: choice(['None', 'HTTP', 'Embedded'])
    .describe('The automatic scanner; default None.')
    .optional(),
  url: webAddress.describe('The URL of the scanner, with kind HTTP.').optional(),
  thresholds: thresholds
    .describe('The lowest score that raises a flag, each as flag=score, such as nudity=0.85.')
    .optional(),
})
  .refine((it) => (it.kind === 'HTTP') === (it.url !== undefined), {
    error: 'url with kind HTTP, and only then',
  })
  .describe('The scanner that checks new images.')
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "(has(self.kind) && self.kind == 'HTTP') == has(self.url)",
        message: "`url` must be set with `kind` 'HTTP', and only then",
      },
    ],
  });
