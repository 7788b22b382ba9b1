// Runs against a server that answers like Cloudflare's API v4.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCloudflareApi } from '../../../../runtime/platform/cdn/cloudflare.ts';
import { createRateLimitedCdn } from '../../../../runtime/platform/cdn/rate-limited-cdn.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { type CdnSays, type CdnServer, startCdnServer } from '../../../support/cdn-server.ts';
import { many, never, purgeOf, refusals } from './purges.ts';

let api: CdnServer;
const ZONE = '023e105f4ecef8ad9ca31a8372d0c353';

const says = (status: number, body: object, headers?: Record<string, string>): CdnSays => ({
  status,
  body: JSON.stringify(body),
  ...(headers && { headers }),
});
const taken = says(200, { success: true, errors: [], messages: [], result: { id: ZONE } });
const failed = (status: number, code: number, message: string) =>
  says(status, { success: false, errors: [{ code, message }], messages: [], result: null });

beforeEach(async () => {
  api = await startCdnServer();
  api.answer(() => taken);
});
afterEach(() => api.close());

const open = () =>
  createRateLimitedCdn(
    createCloudflareApi({ zone: ZONE, token: 'token-of-cloudflare', url: `${api.url}/client/v4/` }),
    { clock: systemClock },
  );

describe('a purge at Cloudflare', () => {
  it('is one POST with the tags of projects and files', async () => {
    const purges = [purgeOf('shop', 'a'), purgeOf('blog'), purgeOf('blog', 'b')];
    expect(await open().purge(purges, never)).toEqual(new Map());
    const body = '{"tags":["file_a","prj_blog"]}';
    expect(api.seen).toEqual([
      {
        method: 'POST',
        path: `/client/v4/zones/${ZONE}/purge_cache`,
        headers: {
          host: new URL(api.url).host,
          authorization: 'Bearer token-of-cloudflare',
          accept: 'application/json',
          'content-type': 'application/json',
          'content-length': String(body.length),
          connection: 'close',
        },
        body,
      },
    ]);
  });

  it('sends at most 100 tags a call', async () => {
    await open().purge(many(201), never);
    const counts = api.seen.map(({ body }) => JSON.parse(body).tags.length);
    expect(counts).toEqual([100, 100, 1]);
  });

  it('reports the error of Cloudflare and what to do, also for a 200 without success', async () => {
    const rows: [CdnSays, string, RegExp][] = [
      [
        failed(400, 1012, 'Request must contain tags'),
        '400 (1012 Request must',
        /TINTYPE_CDN_ZONE/,
      ],
      [failed(401, 10000, 'Authentication error'), '401 (10000 Auth', /Cache Purge/],
      [failed(403, 10000, 'Authentication error'), '403 (10000 Auth', /Cache Purge/],
      [failed(404, 7003, 'Could not route'), '404 (7003 Could', /zone id/],
      [failed(429, 971, 'Please wait'), '429 (971 Please', /TINTYPE_CDN_CALLS_PER_MINUTE/],
      [
        failed(200, 1107, 'Only enterprise'),
        'did not say that it purged (1107 Only',
        /TINTYPE_CDN/,
      ],
      [
        { status: 200, body: '<html>proxy' },
        'did not say that it purged (<html>',
        /TINTYPE_CDN_URL/,
      ],
      [{ status: 503, body: '' }, 'answered 503', /is retried/],
    ];
    for (const [answer, said, advice] of rows) {
      api.answer(() => answer);
      const [refusal] = refusals(await open().purge([purgeOf('shop')], never));
      expect(refusal?.says).toContain(said);
      expect(refusal?.advice).toMatch(advice);
    }
  });

  it('reports only the purges of the call that failed', async () => {
    api.answer(() => (api.seen.length === 2 ? failed(400, 1, 'no') : taken));
    const refused = refusals(await open().purge(many(300), never));
    expect(refused.map(({ name }) => name)).toEqual(
      many(200)
        .slice(100)
        .map(({ file_id }) => file_id),
    );
  });
});

describe('the Cloudflare check', () => {
  it('reads the zone, and purges nothing', async () => {
    api.answer(() => says(200, { success: true, errors: [], result: { name: 'shop.example' } }));
    expect(await open().check(never)).toEqual({ says: 'the token reads the zone shop.example' });
    expect(api.seen).toMatchObject([{ method: 'GET', path: `/client/v4/zones/${ZONE}` }]);
  });

  it('verifies the token if it may not read the zone', async () => {
    api.answer(({ path }) =>
      path.endsWith('/user/tokens/verify')
        ? says(200, { success: true, errors: [], result: { status: 'active' } })
        : failed(403, 9109, 'Unauthorized to access requested resource'),
    );
    const health = await open().check(never);
    expect(health.says).toBe('the token is active');
    expect(health.advice).toContain('only the first purge shows');
  });

  it('reports an invalid token or zone', async () => {
    api.answer(() => failed(401, 1000, 'Invalid API Token'));
    await expect(open().check(never)).rejects.toThrow(
      /401 \(1000 Invalid API Token\): make an API/,
    );
    api.answer(() => failed(404, 7003, 'Could not route'));
    await expect(open().check(never)).rejects.toThrow(/set TINTYPE_CDN_ZONE to the zone id/);
  });
});
