// Runs against a server that answers like CloudFront's API. Signatures are verified independently.
import { createHash, createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AwsIdentity } from '../../../../runtime/platform/cdn/aws-signature.ts';
import { createCloudFrontApi } from '../../../../runtime/platform/cdn/cloudfront.ts';
import { createRateLimitedCdn } from '../../../../runtime/platform/cdn/rate-limited-cdn.ts';
import { fixedClock } from '../../../../runtime/platform/clock.ts';
import {
  type CdnSays,
  type CdnSeen,
  type CdnServer,
  startCdnServer,
} from '../../../support/cdn-server.ts';
import { many, never, purgeOf, refusals } from './purges.ts';

const SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const clock = fixedClock(new Date('2026-11-21T07:00:00Z'));
let api: CdnServer;

const failed = (status: number, code: string, message: string): CdnSays => ({
  status,
  body: `<?xml version="1.0"?><ErrorResponse xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>x</RequestId></ErrorResponse>`,
});

beforeEach(async () => {
  api = await startCdnServer();
  api.answer(() => ({ status: 201, body: '<Invalidation><Id>I1</Id></Invalidation>' }));
});
afterEach(() => api.close());

const known: AwsIdentity = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET });
const open = (identity = known) =>
  createRateLimitedCdn(
    createCloudFrontApi({ distribution: 'EDFDVBD6EXAMPLE', identity, clock, url: api.url }),
    { clock },
  );

const tagsIn = ({ body }: CdnSeen) =>
  [...body.matchAll(/<Path>([^<]*)<\/Path>/g)].map((at) => at[1]);

describe('a purge at CloudFront', () => {
  it('is one invalidation of tags', async () => {
    expect(await open().purge([purgeOf('shop', 'a'), purgeOf('blog')], never)).toEqual(new Map());
    const [seen] = api.seen;
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/2020-05-31/distribution/EDFDVBD6EXAMPLE/invalidation',
      headers: { host: new URL(api.url).host, 'content-type': 'application/xml' },
    });
    const reference = /<CallerReference>([^<]+)</.exec(seen?.body ?? '')?.[1];
    expect(seen?.body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><InvalidationBatch xmlns="http://cloudfront.amazonaws.com/doc/2020-05-31/"><Paths><Quantity>2</Quantity><Items><Path>#file_a</Path><Path>#prj_blog</Path></Items></Paths>' +
        `<CallerReference>${reference}</CallerReference></InvalidationBatch>`,
    );
  });

  it('has a new CallerReference each time, since a known one would invalidate nothing', async () => {
    const cdn = open();
    for (const _ of [1, 2]) await cdn.purge([purgeOf('shop')], never);
    const references = api.seen.map(({ body }) => /<CallerReference>([^<]+)</.exec(body)?.[1]);
    expect(new Set(references).size).toBe(2);
  });

  it('is signed with Signature Version 4, with and without a session token', async () => {
    await open().purge([purgeOf('shop')], never);
    await open(async () => ({ ...(await known()), sessionToken: 'token/of+role==' })).purge(
      [purgeOf('shop')],
      never,
    );
    for (const seen of api.seen) {
      expect(seen.headers['x-amz-date']).toBe('20261121T070000Z');
      expect(seen.headers['authorization']).toBe(signatureOf(seen));
    }
    expect(api.seen[1]?.headers['x-amz-security-token']).toBe('token/of+role==');
    expect(api.seen[1]?.headers['authorization']).toContain('x-amz-security-token');
  });

  it('sends at most 100 tags a call', async () => {
    await open().purge(many(201), never);
    expect(api.seen.map((seen) => tagsIn(seen).length)).toEqual([100, 100, 1]);
    for (const { body } of api.seen) {
      expect(body).toContain(`<Quantity>${body.split('<Path>').length - 1}</Quantity>`);
    }
  });

  it('reports the error of CloudFront and what to do', async () => {
    const rows: [CdnSays, string, RegExp][] = [
      [
        failed(403, 'AccessDenied', 'not authorized'),
        '403 (AccessDenied, not',
        /CreateInvalidation/,
      ],
      [failed(403, 'SignatureDoesNotMatch', 'calculated'), '403 (Signature', /AWS credentials/],
      [failed(404, 'NoSuchDistribution', 'does not exist'), '404 (NoSuch', /TINTYPE_CDN_ZONE/],
      [failed(400, 'InvalidArgument', 'bad'), '400 (InvalidArgument', /TINTYPE_CDN_ZONE/],
      [{ status: 500, body: '' }, 'answered 500', /is retried/],
    ];
    for (const [answer, said, advice] of rows) {
      api.answer(() => answer);
      const [refusal] = refusals(await open().purge([purgeOf('shop')], never));
      expect(refusal?.says).toContain(said);
      expect(refusal?.advice).toMatch(advice);
    }
  });

  it('stops and waits 30 seconds if CloudFront throttles with a 400', async () => {
    for (const code of ['TooManyInvalidationsInProgress', 'Throttling']) {
      api.seen.length = 0;
      api.answer(() => failed(400, code, 'Processing your request will exceed the limit'));
      const refused = refusals(await open().purge(many(300), never));
      expect(refused).toHaveLength(300);
      expect(refused[0]).toMatchObject({ retry_after_seconds: 30, concerns: 'all' });
      expect(api.seen).toHaveLength(1);
    }
  });

  it('reports missing AWS credentials', async () => {
    const none: AwsIdentity = async () => {
      throw new Error('Could not load credentials from any providers');
    };
    const [refusal] = refusals(await open(none).purge([purgeOf('shop')], never));
    expect(refusal?.says).toBe('no AWS credentials were found');
    expect(refusal?.advice).toContain('AWS_ACCESS_KEY_ID');
    expect(api.seen).toEqual([]);
  });
});

describe('the CloudFront check', () => {
  const config = (tags: string) => ({
    status: 200,
    body: `<DistributionConfig><Enabled>true</Enabled>${tags}</DistributionConfig>`,
  });

  it('reads whether the distribution keeps cache tags, and invalidates nothing', async () => {
    api.answer(() => config('<CacheTagConfig><HeaderName>Cache-Tag</HeaderName></CacheTagConfig>'));
    expect((await open().check(never)).says).toBe('the distribution keeps the tags of Cache-Tag');
    const [seen] = api.seen;
    expect(seen?.method).toBe('GET');
    expect(seen?.path).toBe('/2020-05-31/distribution/EDFDVBD6EXAMPLE/config');
    expect(seen?.headers['authorization']).toBe(seen && signatureOf(seen));
  });

  it('fails if the distribution keeps no tags, since purges would have no effect', async () => {
    api.answer(() => config(''));
    await expect(open().check(never)).rejects.toThrow(/keeps no tags: set its CacheTagConfig/);
  });

  it('accepts credentials that may only invalidate, and reports invalid ones', async () => {
    api.answer(() => failed(403, 'AccessDenied', 'not authorized to GetDistributionConfig'));
    expect(await open().check(never)).toMatchObject({ says: 'the AWS credentials are accepted' });
    api.answer(() => failed(403, 'InvalidClientTokenId', 'The security token is invalid'));
    await expect(open().check(never)).rejects.toThrow(/InvalidClientTokenId/);
  });
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) =>
  createHmac('sha256', key).update(text).digest();

/** Follows the documentation of Signature Version 4 step by step. */
function signatureOf({ method, path, headers, body }: CdnSeen): string {
  const names = /SignedHeaders=([^,]+)/.exec(headers['authorization'] ?? '')?.[1] ?? '';
  for (const must of ['host', 'x-amz-date']) expect(names.split(';')).toContain(must);
  const canonical = [
    method,
    path,
    '',
    ...names.split(';').map((name) => `${name}:${headers[name]}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const scope = '20261121/us-east-1/cloudfront/aws4_request';
  const toSign = ['AWS4-HMAC-SHA256', '20261121T070000Z', scope, sha256(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce((made: string | Buffer, part) => hmac(made, part), `AWS4${SECRET}`);
  const signature = hmac(key, toSign).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}
