import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashApiKey } from '../../../../runtime/core/signing/api-key.ts';
import {
  signHelperToken,
  verifyHelperToken,
} from '../../../../runtime/core/signing/helper-token.ts';
import { signFields } from '../../../../runtime/core/signing/hmac.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const api_key = `tin_live_${'0123456789ab'.repeat(3)}`;
const exp = 1_800_000_000;
const state = { route: 'avatar', metadata: { user: 7 } };
const token =
  'hlp1.upl_01.1800000000.eyJyb3V0ZSI6ImF2YXRhciIsIm1ldGFkYXRhIjp7InVzZXIiOjd9fQ' +
  '.iHq8oDKDS-fWBQO6uzBXeGBjH8RAOC66Q2do-25QKuc';

describe("the upload helper's token", () => {
  it('is hlp1.{upload_id}.{exp}.{state}.{mac} under a hash of the API key', () => {
    expect(signHelperToken({ api_key, upload_id: 'upl_01', exp, state })).toBe(token);
    const verdict = verifyHelperToken(api_key, token, exp - 1);
    expect(verdict).toEqual({ outcome: 'valid', upload_id: 'upl_01', exp, state });
  });
  it('is readable by anyone: its state is base64url JSON', () => {
    const [, , , text = ''] = token.split('.');
    expect(JSON.parse(Buffer.from(text, 'base64url').toString())).toEqual(state);
  });
  it('expires at exp', () => {
    expect(verifyHelperToken(api_key, token, exp).outcome).toBe('upload_expired');
  });
  it('stops working when the key is rotated', () => {
    const rotated = `tin_live_${'f'.repeat(36)}`;
    expect(verifyHelperToken(rotated, token, exp - 1)).toEqual({ outcome: 'invalid_token' });
  });
  it('cannot be forged with the hash that the service stores', () => {
    const fields = token.split('.').slice(0, 4);
    for (const leaked of [
      Buffer.from(hashApiKey(api_key)),
      Buffer.from(hashApiKey(api_key), 'hex'),
    ]) {
      const forged = [...fields, signFields(leaked, '.', fields)].join('.');
      expect(verifyHelperToken(api_key, forged, exp - 1).outcome).toBe('invalid_token');
    }
  });
  it('is not valid for any mutation', () => {
    fc.assert(
      fc.property(mutationsOf(token), (altered) => {
        expect(verifyHelperToken(api_key, altered, exp - 1).outcome).toBe('invalid_token');
      }),
    );
  });
  it('carries any JSON metadata through unchanged', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (route, metadata) => {
        const own = signHelperToken({
          api_key,
          upload_id: 'upl_1',
          exp,
          state: { route, metadata },
        });
        const verdict = verifyHelperToken(api_key, own, 0);
        const read = verdict.outcome === 'valid' ? JSON.stringify(verdict.state) : verdict.outcome;
        expect(read).toBe(JSON.stringify({ route, metadata }));
      }),
    );
  });
});
