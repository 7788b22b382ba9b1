import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signRequest, verifyRequest } from '../../../../runtime/core/signing/request-signature.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const secret = 'admin-secret';
const text = '{"name":"Shop"}';
const request = {
  method: 'PATCH',
  pathname: '/v1/projects/shop',
  body: Buffer.from(text),
};
const signature = '54cbc91ee62e1c2e2bc7cb155b22d8ee9a83cb5f06b26a8916f919afd62bc847';

describe('the signature of a browser write', () => {
  it('covers METHOD LF pathname LF raw body', () => {
    expect(signRequest(secret, request)).toBe(signature);
    expect(verifyRequest(secret, request, signature)).toBe(true);
  });
  it('signs an empty body as the empty string', () => {
    const empty = {
      method: 'POST',
      pathname: '/v1/projects/shop/signing-keys/rotate',
      body: new Uint8Array(),
    };
    expect(signRequest(secret, empty)).toBe(
      '78db186b02896f58282868a156815dfc621e83d7b3934c2ed022dc6f79eb1b32',
    );
  });
  it('is refused when missing, empty or made with another secret', () => {
    expect(verifyRequest(secret, request, undefined)).toBe(false);
    expect(verifyRequest(secret, request, '')).toBe(false);
    expect(verifyRequest(secret, request, signRequest('other', request))).toBe(false);
  });
  it('is not valid for any mutation of the header, method, pathname or body', () => {
    fc.assert(
      fc.property(mutationsOf(signature), (altered) => {
        expect(verifyRequest(secret, request, altered)).toBe(false);
      }),
    );
    const altered = fc.oneof(
      mutationsOf('PATCH').map((method) => ({ method })),
      mutationsOf(request.pathname).map((pathname) => ({ pathname })),
      mutationsOf(text).map((body) => ({ body: Buffer.from(body) })),
    );
    fc.assert(
      fc.property(altered, (change) => {
        expect(verifyRequest(secret, { ...request, ...change }, signature)).toBe(false);
      }),
    );
  });
  it('holds for the bytes received, not for the same JSON in another form', () => {
    for (const body of [
      '{"name": "Shop"}',
      `\ufeff${text}`,
      `${text}\n`,
      '{"name":"Sh\\u006fp"}',
    ]) {
      const other = { ...request, body: Buffer.from(body) };
      expect(verifyRequest(secret, other, signature)).toBe(false);
    }
  });
});
