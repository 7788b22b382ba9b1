import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signProviderA, verifyProviderA } from '../../../../runtime/core/signing/provider-a.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const text = '{"id":"evt_1"}';
const body = Buffer.from(text);
const t = 1_800_000_000;

describe("payment provider A's signature", () => {
  const v1 = 'b85e11e5c8dbe651c993fddf2b882d02066dc016e9bcca804d0cea9f7f5ede6f';
  const signature = `t=${t},v1=${v1}`;
  const verify = (header: string | undefined, now_seconds = t, bytes: Uint8Array = body) =>
    verifyProviderA({ secret: 'pa-secret', header, body: bytes, now_seconds });
  it('is t=<unix>,v1=<hex> over t.body', () => {
    expect(signProviderA('pa-secret', t, body)).toBe(signature);
    expect(verify(signature)).toBe(true);
    expect(verify(undefined)).toBe(false);
  });
  it('is valid for 300 seconds in either direction', () => {
    expect(verify(signature, t + 300)).toBe(true);
    expect(verify(signature, t - 300)).toBe(true);
    expect(verify(signature, t + 301)).toBe(false);
    expect(verify(signature, t - 301)).toBe(false);
  });
  it('is found among several v1 and unknown schemes', () => {
    expect(verify(`t=${t},v1=${'0'.repeat(64)},v1=${v1},v0=abc`)).toBe(true);
  });
  it('is not valid for any mutation of header or body', () => {
    const unchanged =
      /^t=1800000000,v1=b85e11e5c8dbe651c993fddf2b882d02066dc016e9bcca804d0cea9f7f5ede6f(,|$)/;
    const altered = mutationsOf(signature).filter((header) => !unchanged.test(header));
    fc.assert(fc.property(altered, (header) => !verify(header)));
    fc.assert(fc.property(mutationsOf(text), (other) => !verify(signature, t, Buffer.from(other))));
  });
});
