import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signProviderB, verifyProviderB } from '../../../../runtime/core/signing/provider-b.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const text = '{"id":"evt_1"}';
const body = Buffer.from(text);

describe("payment provider B's signature", () => {
  const signature = 'a9e54c66b3da1a3aad09719ea3a5e147adf9e318d7c98a008029168ebfbc2419';
  const verify = (header: string | undefined, bytes = body) =>
    verifyProviderB('pb-secret', bytes, header);
  it('is lowercase hex hmac-sha256(webhook secret, raw body)', () => {
    expect(signProviderB('pb-secret', body)).toBe(signature);
    expect(verify(signature)).toBe(true);
    expect(verify(signature.toUpperCase())).toBe(false);
    expect(verify(undefined)).toBe(false);
  });
  it('is not valid for any mutation of header or body', () => {
    fc.assert(fc.property(mutationsOf(signature), (altered) => !verify(altered)));
    fc.assert(
      fc.property(mutationsOf(text), (altered) => !verify(signature, Buffer.from(altered))),
    );
  });
});
