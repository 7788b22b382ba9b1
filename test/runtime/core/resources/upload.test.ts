import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  completeUploadBody,
  createUploadBody,
  multipartPartSize,
  parseParts,
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
  ])('refuses %j', (wrong) => {
    expect(createUploadBody.safeParse({ ...create, ...wrong }).success).toBe(false);
  });
});

describe('completeUploadBody', () => {
  it('takes no body, an empty one, and a list that is judged later', () => {
    for (const body of [undefined, {}, { parts: [] }, { parts: 'nonsense' }]) {
      expect(completeUploadBody.safeParse(body).success).toBe(true);
    }
    expect(completeUploadBody.safeParse({ part: [] }).success).toBe(false);
  });
});

describe('parseParts', () => {
  const part = (part_number: number, etag = `"${part_number}"`) => ({ part_number, etag });
  const refused = expect.objectContaining({ code: 'invalid_parts', status: 400 });

  it('puts a whole list in order, however it was sent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.infiniteStream(fc.nat()), (count, order) => {
        const whole = Array.from({ length: count }, (_, at) => part(at + 1));
        const shuffled = whole
          .map((each) => ({ each, key: order.next().value }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ each }) => each);
        expect(parseParts(shuffled, count)).toEqual(whole);
      }),
    );
  });

  it.each([
    ['missing', [part(1)]],
    ['twice', [part(1), part(2), part(2)]],
    ['twice in place of another', [part(1), part(1)]],
    ['from zero', [part(0), part(1)]],
    ['too many', [part(1), part(2), part(3)]],
    ['fraction', [part(1), part(1.5)]],
    ['empty ETag', [part(1), part(2, '')]],
    ['number as text', [part(1), { part_number: '2', etag: 'x' }]],
    ['unknown field', [part(1), { ...part(2), size: 1 }]],
    ['no list', 'nonsense'],
    ['nothing', undefined],
    ['empty', []],
  ])('refuses a list of 2 with %s', (_what, parts) => {
    expect(() => parseParts(parts, 2)).toThrow(refused);
  });
});

describe('multipartPartSize', () => {
  it('makes exactly the parts that were asked for, each but the last at least 5 MiB', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 10_000 }),
        fc.integer({ min: 0, max: 1e12 }),
        (parts, more) => {
          const bytes = parts * 5 * MIB + more;
          const size = multipartPartSize(bytes, parts);
          expect(size).toBeGreaterThanOrEqual(5 * MIB);
          expect(Math.ceil(bytes / size)).toBe(parts);
        },
      ),
    );
  });

  it('refuses smaller parts', () => {
    expect(multipartPartSize(10 * MIB, 2)).toBe(5 * MIB);
    expect(() => multipartPartSize(10 * MIB - 2, 2)).toThrow(
      expect.objectContaining({ code: 'invalid_part_size' }),
    );
  });
});
