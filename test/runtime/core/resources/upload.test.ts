import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  completeUploadBody,
  createUploadBody,
  multipartPartSize,
} from '../../../../runtime/core/resources/upload.ts';

const MIB = 1_048_576;
const create = { content_type: 'image/jpeg', size_bytes: 1 };

describe('createUploadBody', () => {
  it('fills in mode direct and lower-cases slug and sha256', () => {
    const sha256 = 'AB'.repeat(32);
    expect(createUploadBody.parse({ ...create, file_slug: 'Hero.JPG', sha256 })).toEqual({
      ...create,
      mode: 'direct',
      file_slug: 'hero.jpg',
      sha256: sha256.toLowerCase(),
    });
  });

  it('accepts parts: 1 in either mode', () => {
    for (const mode of ['direct', 'proxy'])
      expect(createUploadBody.safeParse({ ...create, mode, parts: 1 }).success).toBe(true);
  });

  it.each([
    { content_type: 7 },
    { size_bytes: 0 },
    { size_bytes: 1.5 },
    { size_bytes: '1' },
    { size_bytes: 2 ** 53 },
    { file_slug: '.a' },
    { sha256: 'ab' },
    { sha256: 'g'.repeat(64) },
    { mode: 'other' },
    { parts: 0 },
    { parts: 10_001 },
    { mode: 'proxy', parts: 2 },
  ])('rejects %j', (wrong) => {
    expect(createUploadBody.safeParse({ ...create, ...wrong }).success).toBe(false);
  });
});

describe('completeUploadBody', () => {
  it('accepts no body, an empty body and any parts, and rejects an unknown field', () => {
    for (const body of [undefined, {}, { parts: [] }, { parts: 'nonsense' }]) {
      expect(completeUploadBody.safeParse(body).success).toBe(true);
    }
    expect(completeUploadBody.safeParse({ part: [] }).success).toBe(false);
  });
});

describe('multipartPartSize', () => {
  it('yields exactly the requested number of parts, each but the last at least 5 MiB', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 10_000 }),
        fc.integer({ min: 0, max: 1e12 }),
        (parts, more) => {
          const bytes = (parts - 1) * 5 * MIB + 1 + more;
          const size = multipartPartSize(bytes, parts);
          expect(size).toBeGreaterThanOrEqual(5 * MIB);
          expect(Math.ceil(bytes / size)).toBe(parts);
        },
      ),
    );
  });

  it('rejects parts below 5 MiB and reports the largest number of parts that fits', () => {
    expect(multipartPartSize(10 * MIB, 2)).toBe(5 * MIB);
    expect(multipartPartSize(5 * MIB + 1, 2)).toBe(5 * MIB);
    expect(multipartPartSize(7, 1)).toBe(7);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 * MIB }),
        fc.integer({ min: 21, max: 99 }),
        (bytes, parts) => {
          const { code, details } = refusalOf(() => multipartPartSize(bytes, parts));
          expect([code, details.min_bytes]).toEqual(['invalid_part_size', 5 * MIB]);
          if (details.max_parts > 1)
            expect(multipartPartSize(bytes, details.max_parts)).toBeGreaterThan(0);
          expect(() => multipartPartSize(bytes, details.max_parts + 1)).toThrow();
        },
      ),
    );
  });
});

function refusalOf(act: () => unknown) {
  try {
    act();
  } catch (error) {
    return error as { code: string; details: { min_bytes: number; max_parts: number } };
  }
  throw new Error('nothing was refused');
}
