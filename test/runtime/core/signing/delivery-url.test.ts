import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  signDeliveryUrl,
  verifyDeliveryUrl,
} from '../../../../runtime/core/signing/delivery-url.ts';
import { mutationsOf } from '../../../support/mutations.ts';

const delivery = {
  secret: Buffer.from(Array.from({ length: 32 }, (_, i) => i)),
  project_id: 'prj_01',
  kid: 'k1',
  exp: 1_800_000_000,
  path: '/resize/640x480/f/cat.jpg',
};
const sig = 'lx7YavDQF0AtdccF-8gEe6BvZnG91y280ReVx-BYiTk';
const before = { now_seconds: delivery.exp - 1 };

describe('the signature of a delivery URL', () => {
  it('covers "deliv1" LF project_id LF kid LF exp LF path', () => {
    expect(signDeliveryUrl(delivery)).toBe(sig);
    expect(verifyDeliveryUrl({ ...delivery, ...before, sig })).toBe('valid');
  });
  it('expires at exp', () => {
    const at = (now_seconds: number) => verifyDeliveryUrl({ ...delivery, sig, now_seconds });
    expect(at(delivery.exp)).toBe('signature_expired');
    expect(at(delivery.exp + 1e6)).toBe('signature_expired');
  });
  it('is invalid rather than expired if it is wrong', () => {
    const late = { now_seconds: delivery.exp + 1 };
    expect(verifyDeliveryUrl({ ...delivery, ...late, sig: 'x' })).toBe('invalid_signature');
    expect(verifyDeliveryUrl({ ...delivery, exp: delivery.exp + 60, ...before, sig })).toBe(
      'invalid_signature',
    );
  });
  it('is not valid for any mutation of sig, path, kid, project or exp', () => {
    const altered = fc.oneof(
      mutationsOf(sig).map((text) => ({ sig: text })),
      mutationsOf(delivery.path).map((path) => ({ sig, path })),
      mutationsOf(delivery.kid).map((kid) => ({ sig, kid })),
      mutationsOf(delivery.project_id).map((project_id) => ({ sig, project_id })),
      fc
        .integer()
        .filter((exp) => exp !== delivery.exp)
        .map((exp) => ({ sig, exp })),
    );
    fc.assert(
      fc.property(altered, (change) => {
        const verdict = verifyDeliveryUrl({ ...delivery, now_seconds: 0, ...change });
        expect(verdict).toBe('invalid_signature');
      }),
    );
  });
  it('is invalid if the unused bits of its last character are changed', () => {
    for (const last of 'klmnABCD') {
      const verdict = verifyDeliveryUrl({ ...delivery, ...before, sig: sig.slice(0, -1) + last });
      expect(verdict).toBe(last === 'k' ? 'valid' : 'invalid_signature');
    }
  });
  it('is invalid if bytes move from one field to the next', () => {
    const moved = { ...delivery, project_id: 'prj_01\nk1', kid: '1800000000' };
    expect(verifyDeliveryUrl({ ...moved, ...before, sig })).toBe('invalid_signature');
  });
});
