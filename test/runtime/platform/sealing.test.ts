import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSealing, SealingError } from '../../../runtime/platform/sealing.ts';

const older = { id: 'k1', key: Buffer.alloc(32, 1) };
const newer = { id: 'k2', key: Buffer.alloc(32, 2) };
const context = 'signing-key:kid_1';
const secret = Buffer.from('whsec_secret');

describe('a sealed secret', () => {
  it('opens to the plaintext, whatever it is', () => {
    const sealing = createSealing([older]);
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (plaintext, name) => {
        expect([...sealing.open(sealing.seal(plaintext, name), name)]).toEqual([...plaintext]);
      }),
    );
  });
  it('does not contain its plaintext and differs each time', () => {
    const sealing = createSealing([older]);
    const [one, two] = [sealing.seal(secret, context), sealing.seal(secret, context)];
    expect(one.includes(secret)).toBe(false);
    expect(one.equals(two)).toBe(false);
  });
  it('does not open in another context', () => {
    const sealing = createSealing([older]);
    const sealed = sealing.seal(secret, context);
    expect(() => sealing.open(sealed, 'signing-key:kid_2')).toThrow(SealingError);
    expect(() => sealing.open(sealed, '')).toThrow(SealingError);
  });
  it('does not open after any change, truncation or addition', () => {
    const sealing = createSealing([older, newer]);
    const sealed = sealing.seal(secret, context);
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const altered = Buffer.from(sealed);
      altered[bit >> 3] = (sealed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => sealing.open(altered, context), `bit ${bit}`).toThrow(SealingError);
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => sealing.open(sealed.subarray(0, length), context)).toThrow(SealingError);
    }
    expect(() => sealing.open(Buffer.concat([sealed, Buffer.from([0])]), context)).toThrow();
  });
});

describe('rotation of the key-encryption key', () => {
  it('seals with the first key and opens with any key', () => {
    const before = createSealing([older]).seal(secret, context);
    const rotated = createSealing([newer, older]);
    expect(rotated.open(before, context)).toEqual(secret);
    const after = rotated.seal(secret, context);
    expect(createSealing([newer]).open(after, context)).toEqual(secret);
  });
  it('names the key that a sealed secret needs if it is missing', () => {
    const before = createSealing([older]).seal(secret, context);
    const open = () => createSealing([newer]).open(before, context);
    expect(open).toThrow(expect.objectContaining({ name: 'SealingError', keyId: 'k1' }));
  });
  it('reports a wrong key under the right id', () => {
    const before = createSealing([older]).seal(secret, context);
    const impostor = createSealing([{ id: 'k1', key: newer.key }]);
    expect(() => impostor.open(before, context)).toThrow(/the key 'k1' .* does not open/);
  });
});

describe('the list of keys', () => {
  it('is rejected if it is empty, repeats an id, or has an invalid key or id', () => {
    expect(() => createSealing([])).toThrow(SealingError);
    expect(() => createSealing([{ id: 'k1', key: Buffer.alloc(16) }])).toThrow(/32 bytes/);
    expect(() => createSealing([{ id: 'k 1', key: Buffer.alloc(32) }])).toThrow(/id/);
    expect(() => createSealing([older, { ...newer, id: 'k1' }])).toThrow(/same id/);
  });
});
