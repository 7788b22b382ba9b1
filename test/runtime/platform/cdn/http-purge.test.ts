// Spec: Caching and response headers (the CDN cache is purged). For Varnish, see test/fault/varnish.test.ts.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createHttpPurgeApi,
  type HttpPurgeOptions,
} from '../../../../runtime/platform/cdn/http-purge.ts';
import { createRateLimitedCdn } from '../../../../runtime/platform/cdn/rate-limited-cdn.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { type CdnServer, startCdnServer } from '../../../support/cdn-server.ts';
import { many, never, purgeOf, refusals } from './purges.ts';

let cache: CdnServer;
let other: CdnServer;

beforeEach(async () => {
  cache = await startCdnServer();
  other = await startCdnServer();
});
afterEach(() => Promise.all([cache.close(), other.close()]));

const open = (options: Partial<HttpPurgeOptions> = {}) => {
  const usual = { urls: [cache.url], method: 'BAN', token: undefined, rootDomain: 'img.example' };
  const api = createHttpPurgeApi({ ...usual, ...options } as HttpPurgeOptions);
  return createRateLimitedCdn(api, { clock: systemClock });
};
const asked = ({ seen }: CdnServer) => seen.map(({ method, path }) => `${method} ${path}`);

describe('a purge with BAN', () => {
  it('names each tag of files and projects once, in one request', async () => {
    const purges = [
      purgeOf('shop', 'a'),
      purgeOf('blog'),
      purgeOf('shop', 'a'),
      purgeOf('blog', 'b'),
    ];
    expect(await open().purge(purges, never)).toEqual(new Map());
    const { host } = new URL(cache.url);
    expect(cache.seen).toEqual([
      {
        method: 'BAN',
        path: '/',
        headers: expect.objectContaining({ host, 'surrogate-key': 'file_a prj_blog' }),
        body: '',
      },
    ]);
  });

  it('bans the whole project if the file is unknown', async () => {
    await open().purge([{ ...purgeOf('shop', 'a'), file_id: null }], never);
    expect(cache.seen[0]?.headers['surrogate-key']).toBe('prj_shop');
  });

  it('sends at most 100 tags and less than 8 KiB of them a request', async () => {
    const id = (at: number) => `file_${String(at).padStart(26, '0')}`;
    const purges = many(250).map((purge, at) => ({ ...purge, file_id: id(at) }));
    expect(await open().purge(purges, never)).toEqual(new Map());
    const tags = cache.seen.map(({ headers }) => headers['surrogate-key']?.split(' ').length);
    expect(tags).toEqual([100, 100, 50]);
    for (const { headers } of cache.seen) {
      expect(headers['surrogate-key']?.length).toBeLessThan(8000);
    }
  });

  it('carries the token if one is set', async () => {
    await open({ token: 'secret-of-the-cache' }).purge([purgeOf('shop')], never);
    expect(cache.seen[0]?.headers['authorization']).toBe('Bearer secret-of-the-cache');
  });

  it('reaches every cache, even if one of them refuses', async () => {
    cache.answer(() => ({ status: 503, headers: { 'retry-after': '7' } }));
    const purges = [purgeOf('shop', 'a')];
    const refused = await open({ urls: [cache.url, other.url] }).purge(purges, never);
    expect(refusals(refused)).toMatchObject([{ name: 'file_a', retry_after_seconds: 7 }]);
    expect([asked(cache), asked(other)]).toEqual([['BAN /'], ['BAN /']]);
  });

  it('says what to do about each status', async () => {
    const rows: [number, RegExp][] = [
      [401, /TINTYPE_CDN_TOKEN/],
      [403, /allow purges from this process’s address/],
      [404, /docs\/cdn\.md/],
      [405, /TINTYPE_CDN_METHOD/],
      [501, /TINTYPE_CDN_METHOD/],
      [302, /redirect/],
      [500, /is retried/],
    ];
    for (const [status, advice] of rows) {
      cache.answer(() => ({ status, body: '<h1>Sorry,\n no.</h1>' }));
      const [refusal] = refusals(await open().purge([purgeOf('shop', 'a')], never));
      expect(refusal?.says).toBe(`the cache answered ${status} (<h1>Sorry, no.</h1>)`);
      expect(refusal?.advice, String(status)).toMatch(advice);
    }
  });

  it('reports a cache that cannot be reached', async () => {
    await cache.close();
    const [refusal] = refusals(await open().purge([purgeOf('shop', 'a')], never));
    expect(refusal?.says).toMatch(/^127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\)$/);
    expect(refusal?.advice).toContain('TINTYPE_CDN_URL');
    cache = await startCdnServer();
  });
});

describe('a purge with PURGE', () => {
  it('purges every host of the project once', async () => {
    const purges = [
      { ...purgeOf('shop', 'a'), custom_domains: ['img.shop.example'] },
      { ...purgeOf('shop', 'b'), custom_domains: ['img.shop.example'] },
      purgeOf('blog'),
    ];
    expect(await open({ method: 'PURGE' }).purge(purges, never)).toEqual(new Map());
    expect(asked(cache)).toEqual(['PURGE /*', 'PURGE /*', 'PURGE /*']);
    expect(cache.seen.map(({ headers }) => headers['host'])).toEqual([
      'shop.img.example',
      'img.shop.example',
      'blog.img.example',
    ]);
  });

  it('fails only for files delivered from the host that was refused', async () => {
    cache.answer(({ headers }) => ({ status: headers['host'] === 'blog.img.example' ? 412 : 200 }));
    const purges = [purgeOf('shop', 'a'), purgeOf('blog', 'b'), purgeOf('press', 'c')];
    const refused = refusals(await open({ method: 'PURGE' }).purge(purges, never));
    expect(refused.map(({ name }) => name)).toEqual(['file_b']);
    expect(refused[0]?.advice).toContain('PURGE /*');
  });
});

describe('the check of HTTP caches', () => {
  it('sends every cache a purge that matches nothing', async () => {
    const urls = [cache.url, other.url];
    expect(await open({ urls }).check(never)).toEqual({ says: '2 caches accept BAN requests' });
    expect(other.seen[0]?.headers['surrogate-key']).toBe('tintype_doctor');
    expect(await open({ method: 'PURGE' }).check(never)).toEqual({
      says: 'the cache accepts PURGE requests',
    });
    expect(cache.seen.at(-1)?.headers['host']).toBe('tintype-doctor.invalid');
  });

  it('names the cache that refuses', async () => {
    other.answer(() => ({ status: 403 }));
    const { host } = new URL(other.url);
    const checked = open({ urls: [cache.url, other.url] }).check(never);
    await expect(checked).rejects.toThrow(
      `${host} answered 403: allow purges from this process’s address`,
    );
  });
});
