import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deriveKey,
  findKey,
  hmac,
  isAnySecret,
  isSameSecret,
  joinFields,
  parseUnixSeconds,
  signFields,
  verifyFields,
} from '../../../../runtime/core/signing/hmac.ts';

const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));

describe('hmac', () => {
  it('matches a test vector of RFC 4231 for HMAC-SHA256', () => {
    expect(hmac('Jefe', 'what do ya want ', 'for nothing?').toString('hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
  it('rejects an empty key', () => {
    expect(() => hmac('', 'text')).toThrow(TypeError);
    expect(() => deriveKey(new Uint8Array(), 'upl1')).toThrow(TypeError);
  });
});

describe('comparison of secrets', () => {
  it('agrees with equality for any two texts of any lengths', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (left, right) => {
        expect(isSameSecret(left, right)).toBe(left === right);
        expect(isSameSecret(left, left)).toBe(true);
      }),
    );
  });
  it('finds a secret wherever it stands in a list, and none in an empty one', () => {
    expect(isAnySecret(['a', 'b', 'c'], 'a')).toBe(true);
    expect(isAnySecret(['a', 'b', 'c'], 'c')).toBe(true);
    expect(isAnySecret(['a', 'b'], 'c')).toBe(false);
    expect(isAnySecret([], '')).toBe(false);
  });
});

describe('derived keys', () => {
  it('are HKDF-SHA256 over the purpose', () => {
    expect(deriveKey(key, 'upl1').toString('hex')).toBe(
      '3ac2786307fe5fbea7b0af175823a5463f8224ae5f6e550df3aeb3efe406a92b',
    );
  });
  it('differ by purpose and by master key', () => {
    const keys = ['upl1', 'embed1', 'ls1', 'cur1'].map((purpose) => deriveKey(key, purpose));
    keys.push(deriveKey(Buffer.alloc(32, 9), 'upl1'), key);
    expect(new Set(keys.map((derived) => derived.toString('hex'))).size).toBe(keys.length);
  });
});

describe('signed fields', () => {
  const fields = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '|', '1') }), {
    minLength: 1,
    maxLength: 5,
  });
  it('never join two different lists into the same text', () => {
    fc.assert(
      fc.property(fields, fields, (left, right) => {
        const texts = [joinFields('|', left), joinFields('|', right)];
        if (texts[0] === undefined || texts[0] !== texts[1]) return;
        expect(left).toEqual(right);
      }),
    );
  });
  it('that contain the separator are neither signed nor verified', () => {
    expect(() => signFields(key, '|', ['a', 'b|c'])).toThrow(TypeError);
    const sig = signFields(key, '|', ['a', 'b', 'c']);
    expect(verifyFields([key], '|', { fields: ['a', 'b|c'], sig })).toBe(false);
  });
  it('verify under any key of the list, and under none when it is empty', () => {
    const sig = signFields(key, '|', ['a']);
    const other = Buffer.alloc(32, 1);
    expect(verifyFields([other, key], '|', { fields: ['a'], sig })).toBe(true);
    expect(verifyFields([other], '|', { fields: ['a'], sig })).toBe(false);
    expect(verifyFields([], '|', { fields: ['a'], sig })).toBe(false);
  });
});

describe('Unix seconds in a URL', () => {
  it('have exactly one spelling', () => {
    expect(parseUnixSeconds('1800000000')).toBe(1_800_000_000);
    expect(parseUnixSeconds('0')).toBe(0);
    for (const text of ['', '01', '+1', '-1', '1.0', '1e9', ' 1', '1 ', '0x1', '1234567890123']) {
      expect(parseUnixSeconds(text), text).toBeUndefined();
    }
  });
});

describe('named keys', () => {
  it('are found only by their own id', () => {
    expect(findKey([{ id: 'a', key }], 'a')).toBe(key);
    expect(findKey([{ id: 'a', key }], '__proto__')).toBeUndefined();
  });
});
