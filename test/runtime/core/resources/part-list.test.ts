import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseParts } from '../../../../runtime/core/resources/part-list.ts';

describe('parseParts', () => {
  const part = (part_number: number, etag = `"${part_number}"`) => ({ part_number, etag });
  const refused = expect.objectContaining({ code: 'invalid_parts', status: 400 });

  it('returns a complete list in order, whatever the order sent', () => {
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
    ['ETag that no header can have', [part(1), part(2, '"\u0000"')]],
    ['ETag that is no ASCII', [part(1), part(2, '"\ud800"')]],
    ['number as text', [part(1), { part_number: '2', etag: 'x' }]],
    ['unknown field', [part(1), { ...part(2), size: 1 }]],
    ['no list', 'nonsense'],
    ['nothing', undefined],
    ['empty', []],
  ])('rejects a list for 2 parts with %s', (_what, parts) => {
    expect(() => parseParts(parts, 2)).toThrow(refused);
  });

  it('lists at most 100 missing numbers in details and ten in the message', () => {
    const refuse = () => parseParts([], 10_000);
    const details = expect.objectContaining({
      missing: Array.from({ length: 100 }, (_, at) => at + 1),
    });
    expect(refuse).toThrow(expect.objectContaining({ details }));
    expect(refuse).toThrow(
      /^Missing from the list: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 9990 more\. /,
    );
  });
});
