// `tintype up` behind a proxy with another address, and with a cache that purges by host name.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeFolder, runTintype, startTintype, type Tintype } from './support/tintype.ts';

let tintype: Tintype;
let origin: string;

beforeAll(async () => {
  tintype = await startTintype({
    env: {
      TINTYPE_BASE_URL: 'https://images.example',
      ...{ TINTYPE_CDN: 'http-purge', TINTYPE_CDN_METHOD: 'PURGE' },
      TINTYPE_CDN_URL: 'http://127.0.0.1:1',
      // Makes `tintype up` parse these variables before it knows its own hosts and ports.
      TINTYPE_LOG_LEVEL: 'warn',
    },
  });
  origin = new URL(tintype.instance.issuer).origin;
}, 120_000);
afterAll(async () => {
  await tintype.end('SIGTERM');
  await removeFolder(tintype.data);
});

it('the identity provider stays on localhost with another base URL, and its metadata names its issuer', async () => {
  const { issuer, api_url } = tintype.instance;
  expect([api_url, new URL(issuer).hostname]).toEqual(['https://images.example', 'localhost']);
  const document = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  expect(document).toMatchObject({ issuer, jwks_uri: `${issuer}/jwks.json` });
});

it('the API accepts a session of `tintype token` with another base URL', async () => {
  const { stdout } = await runTintype(['token', '--json', '--data', tintype.data]);
  const { headers } = JSON.parse(stdout);
  expect((await fetch(`${origin}/v1/me`, { headers })).status).toBe(200);
});
