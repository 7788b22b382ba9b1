import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  signStorageEvent,
  verifyStorageEvent,
} from '../../../../runtime/core/signing/storage-event.ts';
import { mutationsOf } from '../../../support/mutations.ts';

describe('the signature of a storage event', () => {
  const events = Buffer.from('{"events":[]}');
  const signature = 'v1=2d0db8b776c2fc42a775fb49b75ba4ba361f1a484c2aadbc332b4f15007fcf3c';
  const verify = (header: string | undefined, bytes = events) =>
    verifyStorageEvent('storage-secret', bytes, header);
  it('is v1=<hex hmac-sha256(secret, raw body)>', () => {
    expect(signStorageEvent('storage-secret', events)).toBe(signature);
    expect(verify(signature)).toBe(true);
    expect(verify(undefined)).toBe(false);
  });
  it('is not valid for any mutation of header or body', () => {
    fc.assert(fc.property(mutationsOf(signature), (altered) => !verify(altered)));
    fc.assert(
      fc.property(
        mutationsOf('{"events":[]}'),
        (altered) => !verify(signature, Buffer.from(altered)),
      ),
    );
  });
});
