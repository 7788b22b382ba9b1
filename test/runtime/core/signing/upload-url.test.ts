import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signUploadUrl, verifyUploadUrl } from '../../../../runtime/core/signing/upload-url.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
const exp = 1_800_000_000;
const sig = 'dbOsqr7RMgY50ltmyyJIrpg3YVSTcVpted23CpXh97k';
const url = { keys: [key], upload_id: 'upl_01', exp: String(exp), sig };

describe('the signature of an upload URL', () => {
  it('covers "upl1" LF upload_id LF exp', () => {
    expect(signUploadUrl({ key, upload_id: 'upl_01', exp })).toBe(sig);
    expect(verifyUploadUrl(url)).toBe(true);
  });
  it('verifies under an older key only while it is listed', () => {
    const newer = Buffer.alloc(32, 7);
    expect(verifyUploadUrl({ ...url, keys: [newer, key] })).toBe(true);
    expect(verifyUploadUrl({ ...url, keys: [newer] })).toBe(false);
  });
  it('is not valid for any mutation of the upload id, exp or sig', () => {
    const altered = fc.oneof(
      mutationsOf(sig).map((text) => ({ sig: text })),
      mutationsOf(url.exp).map((text) => ({ exp: text })),
      mutationsOf(url.upload_id).map((upload_id) => ({ upload_id })),
    );
    fc.assert(
      fc.property(altered, (change) => {
        expect(verifyUploadUrl({ ...url, ...change })).toBe(false);
      }),
    );
  });
});
