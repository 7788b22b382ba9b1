// Runs against a server that answers like Fastly's API.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFastlyApi } from '../../../../runtime/platform/cdn/fastly.ts';
import { createRateLimitedCdn } from '../../../../runtime/platform/cdn/rate-limited-cdn.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import {
  type CdnSays,
  type CdnSeen,
  type CdnServer,
  startCdnServer,
} from '../../../support/cdn-server.ts';
import { many, never, purgeOf, refusals } from './purges.ts';

let api: CdnServer;
const keysOf = ({ body }: CdnSeen): string[] => JSON.parse(body).surrogate_keys;
const says = (status: number, body: object): CdnSays => ({ status, body: JSON.stringify(body) });
const taken = (request: CdnSeen) =>
  says(200, Object.fromEntries(keysOf(request).map((key, at) => [key, `108-${at}`])));

beforeEach(async () => {
  api = await startCdnServer();
  api.answer(taken);
});
afterEach(() => api.close());

const open = () =>
  createRateLimitedCdn(
    createFastlyApi({ service: 'SU1Z0isxPaoz', token: 'token-of-fastly', url: api.url }),
    {
      clock: systemClock,
    },
  );

describe('a purge at Fastly', () => {
  it('is one POST with the surrogate keys, and never a soft purge', async () => {
    expect(await open().purge([purgeOf('shop', 'a'), purgeOf('blog')], never)).toEqual(new Map());
    const body = '{"surrogate_keys":["file_a","prj_blog"]}';
    expect(api.seen).toEqual([
      {
        method: 'POST',
        path: '/service/SU1Z0isxPaoz/purge',
        headers: {
          host: new URL(api.url).host,
          'fastly-key': 'token-of-fastly',
          accept: 'application/json',
          'content-type': 'application/json',
          'content-length': String(body.length),
          connection: 'close',
        },
        body,
      },
    ]);
  });

  it('sends at most 256 keys a call', async () => {
    await open().purge(many(513), never);
    expect(api.seen.map((request) => keysOf(request).length)).toEqual([256, 256, 1]);
  });

  it('reports only the keys that Fastly did not accept', async () => {
    api.answer(() => says(200, { file_0: '108-1', file_2: '108-2' }));
    const refused = refusals(await open().purge(many(4), never));
    expect(refused.map(({ name }) => name)).toEqual(['file_1', 'file_3']);
    expect(refused[0]?.says).toContain('did not accept 2 of 4 keys');
  });

  it('reports the error of Fastly and what to do', async () => {
    const rows: [CdnSays, string, RegExp][] = [
      [
        says(401, { msg: 'Provided credentials are missing or invalid' }),
        '401 (Provided',
        /purge_select/,
      ],
      [
        says(403, { msg: 'You are not authorized', detail: 'no scope' }),
        'authorized, no scope',
        /purge_select/,
      ],
      [
        says(404, { msg: 'Record not found', detail: 'Cannot find service' }),
        '404 (Record',
        /service id/,
      ],
      [says(429, { msg: 'Too many requests' }), '429 (Too many', /TINTYPE_CDN_CALLS_PER_MINUTE/],
      [{ status: 500, body: 'oops' }, '500 (oops)', /is retried/],
      [{ status: 200, body: 'oops' }, 'did not accept 1 of 1 keys (oops)', /sent again/],
    ];
    for (const [answer, said, advice] of rows) {
      api.answer(() => answer);
      const [refusal] = refusals(await open().purge([purgeOf('shop')], never));
      expect(refusal?.says).toContain(said);
      expect(refusal?.advice).toMatch(advice);
    }
  });
});

describe('the Fastly check', () => {
  const token = (facts: object) => api.answer(() => says(200, { id: 'x', ...facts }));

  it('reads the rights of the token and purges nothing', async () => {
    for (const facts of [
      { scope: 'global', services: [] },
      { scope: 'global:read purge_select', services: ['SU1Z0isxPaoz', 'other'] },
    ]) {
      token(facts);
      expect((await open().check(never)).says).toBe('the token may purge the service SU1Z0isxPaoz');
    }
    expect(api.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /tokens/self',
      'GET /tokens/self',
    ]);
  });

  it('reports a missing scope, another service or invalid credentials', async () => {
    token({ scope: 'global:read', services: [] });
    await expect(open().check(never)).rejects.toThrow(/has the scope global:read: make a token/);
    token({ scope: 'purge_select', services: ['other'] });
    await expect(open().check(never)).rejects.toThrow(/is not for the service SU1Z0isxPaoz/);
    api.answer(() => says(401, { msg: 'Provided credentials are missing or invalid' }));
    await expect(open().check(never)).rejects.toThrow(/401 \(Provided credentials/);
  });
});
