// Spec: Delivery host, URL shapes. What the builder writes, the delivery host reads, in one spelling only.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChain, printChain } from '../../../../runtime/core/delivery/chain.ts';
import { parseDeliveryUrl } from '../../../../runtime/core/delivery/url.ts';
import { deliveryUrls, type Transform } from '../../../../runtime/sdk/server/sdk.ts';

const urls = deliveryUrls('https://shop.img.example');
const side = fc.integer({ min: 1, max: 8192 });
const resize = fc.oneof(
  fc.record(
    { width: side, height: side, mode: fc.constantFrom('fill', 'smart', 'fit') },
    { requiredKeys: ['width', 'height'] },
  ),
  fc.record({ width: side }),
  fc.record({ height: side }),
);
const pixel = fc.integer({ min: 0, max: 10_000 });
const pixels = fc.integer({ min: 1, max: 10_000 });
const transform = fc
  .record(
    {
      resize,
      crop: fc.record({ x: pixel, y: pixel, width: pixels, height: pixels }),
      format: fc.constantFrom('webp', 'avif', 'jpeg', 'png'),
      quality: fc.integer({ min: 1, max: 100 }),
      watermark: fc.constantFrom('default', 'wm_1'),
      preset: fc.constantFrom('thumb', 'hero.2'),
    },
    { requiredKeys: [] },
  )
  .filter((each) => Object.keys(each).length > 0) as fc.Arbitrary<Transform>;

describe('the URL builder', () => {
  it('writes any transform as a URL that is read back the same and is canonical', () => {
    fc.assert(
      fc.property(transform, (asked) => {
        const { pathname } = new URL(urls.derived('red-shoe.jpg', asked));
        const target = parseDeliveryUrl(pathname)?.target;
        const text = target?.kind === 'derived' ? target.chain_text : '';
        const chain = parseChain(text);
        expect(chain && printChain(chain)).toBe(text);
        expect(Object.keys(chain ?? {})).toEqual(expect.arrayContaining(Object.keys(asked)));
      }),
    );
  });

  it('does not care in what order operations are given', () => {
    const one = urls.derived('a.jpg', { format: 'webp', resize: { width: 320 }, quality: 70 });
    const other = urls.derived('a.jpg', { quality: 70, resize: { width: 320 }, format: 'webp' });
    expect(one).toBe('https://shop.img.example/resize/320x/format/webp/quality/70/f/a.jpg');
    expect(other).toBe(one);
    expect(urls.original('a.jpg')).toBe('https://shop.img.example/originals/f/a.jpg');
  });

  it.each([
    [{ resize: { width: 9000 } }],
    [{ quality: 0 }],
    [{ resize: { width: 1.5 } }],
    [{ crop: { x: 0, y: 0, width: 0, height: 10 } }],
    [{ crop: { x: 0, y: 0, width: 10, height: 0 } }],
    [{ preset: 'No' }],
    [{ watermark: 'a/b' }],
    [{}],
  ])('refuses %j, which no URL can say', (asked) => {
    expect(() => urls.derived('a.jpg', asked as Transform)).toThrow(RangeError);
  });

  it.each(['', 'A.jpg', '../a', 'a b'])('refuses %j, which no file is called', (slug) => {
    expect(() => urls.original(slug)).toThrow(RangeError);
  });
});
