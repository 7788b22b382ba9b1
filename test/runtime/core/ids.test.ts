import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type IdPrefix, idPrefixes, isId, newId } from '../../../runtime/core/ids.ts';
import { FILE_SLUG_PATTERN } from '../../../runtime/core/limits.ts';

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const prefix = fc.constantFrom(...(Object.keys(idPrefixes) as IdPrefix[]));

describe('newId', () => {
  it('makes ids of 26 characters that sort by time', () => {
    fc.assert(
      fc.property(prefix, time, time, (kind, a, b) => {
        const [early, late] = [newId(kind, Math.min(a, b)), newId(kind, Math.max(a, b))];
        expect(early).toHaveLength(kind.length + 27);
        if (a !== b) expect(early < late).toBe(true);
      }),
    );
  });

  it('makes legal file slugs', () => {
    fc.assert(fc.property(prefix, time, (kind, at) => FILE_SLUG_PATTERN.test(newId(kind, at))));
  });

  it('makes an id that isId accepts only for its own kind', () => {
    fc.assert(
      fc.property(prefix, prefix, time, (kind, other, at) => {
        const id = newId(kind, at);
        expect(isId(kind, id)).toBe(true);
        expect(isId(other, id)).toBe(kind === other);
      }),
    );
  });

  it('encodes a UUID of version 7 with its timestamp', () => {
    const digits = '0123456789abcdefghjkmnpqrstvwxyz';
    let value = 0n;
    for (const c of newId('upl', 1_800_000_000_000).slice(4))
      value = value * 32n + BigInt(digits.indexOf(c));
    expect(value >> 80n).toBe(1_800_000_000_000n);
    expect((value >> 76n) & 15n).toBe(7n);
    expect((value >> 62n) & 3n).toBe(2n);
  });

  it('does not repeat within a millisecond', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('file', 1));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('rejects a timestamp that is negative, fractional, NaN or above 48 bits', () => {
    for (const at of [-1, 0.5, Number.NaN, 2 ** 48])
      expect(() => newId('org', at)).toThrow(RangeError);
  });
});

describe('isId', () => {
  it('rejects any other spelling of an id', () => {
    const id = newId('upl', 1_800_000_000_000);
    const others = [
      id.toUpperCase(),
      `${id}0`,
      id.slice(0, -1),
      `upl_8${id.slice(5)}`,
      `upl_i${id.slice(5)}`,
    ];
    for (const other of [...others, '', 'upl_', ` ${id}`, `${id}\n`])
      expect(isId('upl', other)).toBe(false);
  });
});
