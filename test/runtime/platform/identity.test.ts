import { createHmac, createSign, KeyObject } from 'node:crypto';
import { exportSPKI, importJWK, UnsecuredJWT } from 'jose';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIdentity, type IdentityOptions } from '../../../runtime/platform/identity.ts';
import {
  type KeySetServer,
  makeSigningPair,
  type SigningPair,
  startKeySetServer,
} from '../../support/key-set-server.ts';

const issuer = 'https://login.example/client_1';
const startMs = Date.parse('2026-11-20T12:00:00Z');
let pair: SigningPair;
let server: KeySetServer;
let nowMs: number;

beforeAll(async () => {
  pair = await makeSigningPair('key-1');
});
beforeEach(async () => {
  server = await startKeySetServer();
  server.state.keys = [pair.jwk];
  nowMs = startMs;
});
afterEach(() => server.close());

function identity(change: Partial<IdentityOptions> = {}) {
  const clock = { now: () => new Date(nowMs) };
  return createIdentity({ issuer, jwksUrl: server.url, clock, ...change });
}

function claims(change: Record<string, unknown> = {}) {
  const seconds = Math.floor(nowMs / 1000);
  return { iss: issuer, sub: 'user_1', iat: seconds, exp: seconds + 300, ...change };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? String(error),
  );
}

async function verdictOn(token: string, change: Partial<IdentityOptions> = {}): Promise<string> {
  return codeOf(identity(change).verify(token));
}

describe('an access token', () => {
  it('yields its subject if it is signed RS256 by the issuer with exp and sub', async () => {
    expect(await identity().verify(await pair.sign(claims()))).toEqual({ sub: 'user_1' });
  });
  it('is accepted with typ JWT or at+jwt, and rejected with another typ', async () => {
    for (const typ of ['JWT', 'at+jwt', 'application/at+jwt']) {
      expect(await verdictOn(await pair.sign(claims(), { typ }))).toBe('accepted');
    }
    expect(await verdictOn(await pair.sign(claims(), { typ: 'logout+jwt' }))).toBe('unauthorized');
  });
  it('is rejected if it is from another issuer', async () => {
    for (const iss of ['https://login.example/client_2', `${issuer}/`, '', undefined]) {
      expect(await verdictOn(await pair.sign(claims({ iss })))).toBe('unauthorized');
    }
  });
  it('is rejected without a valid exp or sub', async () => {
    for (const change of [{ exp: undefined }, { sub: undefined }, { sub: '' }, { exp: 'soon' }]) {
      expect(await verdictOn(await pair.sign(claims(change)))).toBe('unauthorized');
    }
  });
  it('is rejected if its sub is longer than 255 characters', async () => {
    expect(await verdictOn(await pair.sign(claims({ sub: 'x'.repeat(255) })))).toBe('accepted');
    expect(await verdictOn(await pair.sign(claims({ sub: 'x'.repeat(256) })))).toBe('unauthorized');
  });
  it('tolerates at most 60 seconds of clock skew in either direction', async () => {
    const seconds = Math.floor(nowMs / 1000);
    const at = async (change: object) => verdictOn(await pair.sign(claims({ ...change })));
    expect(await at({ exp: seconds - 59 })).toBe('accepted');
    expect(await at({ exp: seconds - 61 })).toBe('unauthorized');
    expect(await at({ nbf: seconds + 59 })).toBe('accepted');
    expect(await at({ nbf: seconds + 61 })).toBe('unauthorized');
  });
  it('must be for the configured audience', async () => {
    const audience = 'tintype';
    const verdict = async (aud: unknown) =>
      verdictOn(await pair.sign(claims({ aud })), { audience });
    expect(await verdict('tintype')).toBe('accepted');
    expect(await verdict(['other', 'tintype'])).toBe('accepted');
    expect(await verdict('other')).toBe('unauthorized');
    expect(await verdict(undefined)).toBe('unauthorized');
  });
  it('is rejected after any change of signature, payload or header', async () => {
    const [head = '', payload = '', sig = ''] = (await pair.sign(claims())).split('.');
    const forged = Buffer.from(JSON.stringify(claims({ sub: 'user_2' }))).toString('base64url');
    const other = await (await makeSigningPair('key-1')).sign(claims());
    const tokens = [
      `${head}.${forged}.${sig}`,
      `${head}.${payload}.${sig.slice(0, -4)}AAAA`,
      `${head}.${payload}.`,
      `${head}.${payload}`,
      other,
      '',
      'x',
      '..',
      'a.b.c',
    ];
    for (const token of tokens) expect(await verdictOn(token), token).toBe('unauthorized');
  });
  it('is accepted in one spelling only', async () => {
    const token = await pair.sign(claims());
    const [head = '', payload = '', sig = ''] = token.split('.');
    // The last letter of 256 bytes has four spare bits, which are 0.
    const spare = { A: 'B', Q: 'R', g: 'h', w: 'x' }[sig.at(-1) ?? ''];
    const spellings = [
      `${token}==`,
      `${token}=`,
      `${head}==.${payload}.${sig}`,
      `${head}.${payload}.${sig.slice(0, -1)}${spare}`,
      `${head}.${payload}.${sig.slice(0, 9)} ${sig.slice(9)}`,
    ];
    for (const spelling of spellings) expect(await verdictOn(spelling)).toBe('unauthorized');
    expect(server.state.requests).toBe(0);
    expect(await verdictOn(token)).toBe('accepted');
  });
  it('is accepted at 8 kB and rejected above 16 kB', async () => {
    expect(await verdictOn(await pair.sign(claims({ pad: 'x'.repeat(6000) })))).toBe('accepted');
    expect(await verdictOn(await pair.sign(claims({ pad: 'x'.repeat(13_000) })))).toBe(
      'unauthorized',
    );
    expect(await verdictOn('x'.repeat(8192))).toBe('unauthorized');
  });
});

describe('a token that Tintype issues', () => {
  it('is not an access token, and is rejected without fetching the key set', async () => {
    const ours = [
      'ls1.t1.eyJhIjoxfQ.c2ln',
      'hlp1.upl_1.1800000000.eyJhIjoxfQ.c2ln',
      `tin_live_${'0'.repeat(36)}`,
      't=1800000000,v1=00ff',
      'v1=00ff',
    ];
    for (const token of ours) expect(await verdictOn(token), token).toBe('unauthorized');
    expect(server.state.requests).toBe(0);
  });
});

describe('the signature algorithm of an access token', () => {
  it('is rejected if it is none, without fetching the key set', async () => {
    const token = new UnsecuredJWT(claims()).encode();
    expect(await verdictOn(token)).toBe('unauthorized');
    expect(server.state.requests).toBe(0);
  });
  it('is rejected if it is HS256 keyed with the public key', async () => {
    const publicKey = await importJWK(pair.jwk, 'RS256', { extractable: true });
    if (publicKey instanceof Uint8Array) throw new Error('not a public key');
    for (const secret of [await exportSPKI(publicKey), JSON.stringify(pair.jwk)]) {
      const head = { alg: 'HS256', kid: 'key-1' };
      const parts = [head, claims()].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      );
      const mac = createHmac('sha256', secret).update(parts.join('.')).digest('base64url');
      expect(await verdictOn([...parts, mac].join('.'))).toBe('unauthorized');
    }
    expect(server.state.requests).toBe(0);
  });
  it('is rejected if it is another RSA algorithm', async () => {
    const [, payload, sig] = (await pair.sign(claims())).split('.');
    for (const alg of ['RS512', 'PS256', 'rs256', 'RSA']) {
      const head = Buffer.from(JSON.stringify({ alg, kid: 'key-1' })).toString('base64url');
      expect(await verdictOn(`${head}.${payload}.${sig}`)).toBe('unauthorized');
    }
  });
});

describe('the header of an access token', () => {
  it('is never a source of keys: jwk, jku, x5u and kid are not trusted', async () => {
    const attacker = await makeSigningPair('key-1');
    const evil = await startKeySetServer();
    evil.state.keys = [attacker.jwk];
    const headers = [
      { jwk: attacker.jwk },
      { jku: evil.url },
      { x5u: evil.url },
      { kid: '../../key-1' },
      { kid: evil.url },
    ];
    for (const header of headers) {
      expect(await verdictOn(await attacker.sign(claims(), header))).toBe('unauthorized');
    }
    expect(evil.state.requests).toBe(0);
    await evil.close();
  });
  it.each([
    [undefined, undefined, 'accepted'],
    ['{"alg":"none","alg":"RS256","kid":"key-1"}', undefined, 'unauthorized'],
    [undefined, `"sub":"bob","sub":"alice"`, 'unauthorized'],
    [undefined, `"sub":"alice","exp":1`, 'unauthorized'],
  ])(
    'is rejected, as the payload is, if it repeats a key: %s %s',
    async (header, more, verdict) => {
      const head = header ?? '{"alg":"RS256","kid":"key-1"}';
      const exp = Math.floor(nowMs / 1000) + 300;
      const payload = `{"iss":"${issuer}","exp":${exp},${more ?? '"sub":"alice"'}}`;
      const signed = [head, payload]
        .map((part) => Buffer.from(part).toString('base64url'))
        .join('.');
      const sig = createSign('RSA-SHA256')
        .update(signed)
        .sign(KeyObject.from(pair.privateKey), 'base64url');
      expect(await verdictOn(`${signed}.${sig}`)).toBe(verdict);
    },
  );

  it('is rejected if it lists critical extensions', async () => {
    const [, payload, sig] = (await pair.sign(claims())).split('.');
    const head = { alg: 'RS256', kid: 'key-1', crit: ['exp'], exp: 1 };
    const text = Buffer.from(JSON.stringify(head)).toString('base64url');
    expect(await verdictOn(`${text}.${payload}.${sig}`)).toBe('unauthorized');
  });
});

describe('the key set', () => {
  it('is fetched once for concurrent tokens', async () => {
    const verifier = identity();
    const token = await pair.sign(claims());
    await Promise.all(Array.from({ length: 20 }, () => verifier.verify(token)));
    expect(server.state.requests).toBe(1);
  });
  it('is refreshed in the background before it becomes old', async () => {
    const verifier = identity();
    await verifier.verify(await pair.sign(claims()));
    nowMs += 6 * 60_000;
    await verifier.verify(await pair.sign(claims()));
    await expect.poll(() => server.state.requests).toBe(2);
  });
  it('stays in use during an outage of several hours', async () => {
    const verifier = identity();
    await verifier.verify(await pair.sign(claims()));
    for (const behavior of ['error', 'html', 'empty', 'huge', 'redirect'] as const) {
      server.state.behavior = behavior;
      nowMs += 60 * 60_000;
      const seen = server.state.requests;
      const token = await pair.sign(claims());
      const requestsAfterOneMore = async () => {
        nowMs += 5_000;
        expect(await codeOf(verifier.verify(token)), behavior).toBe('accepted');
        return server.state.requests;
      };
      await expect.poll(requestsAfterOneMore).toBeGreaterThan(seen);
    }
  });
  it('is dropped after a day without a successful fetch, with auth_unavailable', async () => {
    const verifier = identity();
    await verifier.verify(await pair.sign(claims()));
    server.state.behavior = 'error';
    nowMs += 25 * 60 * 60_000;
    expect(await codeOf(verifier.verify(await pair.sign(claims())))).toBe('auth_unavailable');
  });
});

describe('an outage before the first key set', () => {
  it('is auth_unavailable for every kind of broken response', async () => {
    for (const behavior of ['error', 'html', 'empty', 'huge', 'redirect'] as const) {
      server.state.behavior = behavior;
      expect(await verdictOn(await pair.sign(claims())), behavior).toBe('auth_unavailable');
    }
  });
  it('is auth_unavailable if nothing listens or nothing answers', async () => {
    const jwksUrl = 'http://127.0.0.1:1/jwks.json';
    expect(await verdictOn(await pair.sign(claims()), { jwksUrl })).toBe('auth_unavailable');
    server.state.behavior = 'hang';
    const impatient: typeof fetch = (url, init) =>
      fetch(url, { ...init, signal: AbortSignal.timeout(50) });
    const verdict = await verdictOn(await pair.sign(claims()), { fetch: impatient });
    expect(verdict).toBe('auth_unavailable');
  });
  it('causes at most one fetch in 5 seconds, and recovers', async () => {
    const verifier = identity();
    server.state.behavior = 'error';
    const token = await pair.sign(claims());
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect(await codeOf(verifier.verify(token))).toBe('auth_unavailable');
    }
    expect(server.state.requests).toBe(1);
    server.state.behavior = 'well';
    expect(await codeOf(verifier.verify(token))).toBe('auth_unavailable');
    nowMs += 5_000;
    expect(await codeOf(verifier.verify(token))).toBe('accepted');
    expect(server.state.requests).toBe(2);
  });
  it('leaves a malformed token unauthorized', async () => {
    server.state.behavior = 'error';
    expect(await verdictOn(new UnsecuredJWT(claims()).encode())).toBe('unauthorized');
    expect(await verdictOn('not a token')).toBe('unauthorized');
  });
});

describe('rotation of the provider’s key', () => {
  it('is noticed by the first token of the new key', async () => {
    const verifier = identity();
    await verifier.verify(await pair.sign(claims()));
    const next = await makeSigningPair('key-2');
    server.state.keys = [next.jwk, pair.jwk];
    expect(await codeOf(verifier.verify(await next.sign(claims())))).toBe('accepted');
    expect(await codeOf(verifier.verify(await pair.sign(claims())))).toBe('accepted');
    expect(server.state.requests).toBe(2);
  });
  it('invalidates the old key once the set is fetched again', async () => {
    const verifier = identity();
    const next = await makeSigningPair('key-2');
    await verifier.verify(await pair.sign(claims()));
    server.state.keys = [next.jwk];
    await verifier.verify(await next.sign(claims()));
    expect(await codeOf(verifier.verify(await pair.sign(claims())))).toBe('unauthorized');
  });
  it('limits fetches to one in 5 seconds, even for 50 unknown kids', async () => {
    const verifier = identity();
    await verifier.verify(await pair.sign(claims()));
    const tokens = await Promise.all(
      Array.from({ length: 50 }, (_, index) => pair.sign(claims(), { kid: `unknown-${index}` })),
    );
    const flood = () => Promise.all(tokens.map((token) => codeOf(verifier.verify(token))));
    expect(new Set(await flood())).toEqual(new Set(['unauthorized']));
    expect(new Set(await flood())).toEqual(new Set(['unauthorized']));
    expect(server.state.requests).toBe(2);
    nowMs += 5_000;
    await flood();
    expect(server.state.requests).toBe(3);
  });
  it('is noticed within 5 seconds of a token with an unknown kid', async () => {
    const verifier = identity();
    await verifier.verify(await pair.sign(claims()));
    const stray = await pair.sign(claims(), { kid: 'stray' });
    expect(await codeOf(verifier.verify(stray))).toBe('unauthorized');
    const next = await makeSigningPair('key-2');
    server.state.keys = [next.jwk, pair.jwk];
    nowMs += 5_000;
    expect(await codeOf(verifier.verify(await next.sign(claims())))).toBe('accepted');
  });
  it('is auth_unavailable for the new key during an outage, and the old key stays valid', async () => {
    const verifier = identity();
    const next = await makeSigningPair('key-2');
    await verifier.verify(await pair.sign(claims()));
    server.state.behavior = 'error';
    expect(await codeOf(verifier.verify(await next.sign(claims())))).toBe('auth_unavailable');
    expect(await codeOf(verifier.verify(await next.sign(claims())))).toBe('auth_unavailable');
    expect(await codeOf(verifier.verify(await pair.sign(claims())))).toBe('accepted');
  });
  it('is noticed 5 seconds after a failed fetch', async () => {
    const verifier = identity();
    const next = await makeSigningPair('key-2');
    await verifier.verify(await pair.sign(claims()));
    server.state.keys = [next.jwk, pair.jwk];
    server.state.behavior = 'error';
    expect(await codeOf(verifier.verify(await next.sign(claims())))).toBe('auth_unavailable');
    server.state.behavior = 'well';
    nowMs += 4_000;
    expect(await codeOf(verifier.verify(await next.sign(claims())))).toBe('auth_unavailable');
    nowMs += 1_000;
    expect(await codeOf(verifier.verify(await next.sign(claims())))).toBe('accepted');
  });
});
