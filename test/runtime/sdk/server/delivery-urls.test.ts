// Spec: Delivery host, URL shapes. The delivery host accepts every URL that the builder writes, in one canonical
// spelling.
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
  it('writes any transform as a canonical URL with the same operations', () => {
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

  it('writes the same URL whatever the order of operations', () => {
    const one = urls.derived('a.jpg', { format: 'webp', resize: { width: 320 }, quality: 70 });
    const other = urls.derived('a.jpg', { quality: 70, resize: { width: 320 }, format: 'webp' });
    expect(one).toBe('https://shop.img.example/resize/320x/format/webp/quality/70/f/a.jpg');
    expect(other).toBe(one);
    expect(urls.original('a.jpg')).toBe('https://shop.img.example/originals/f/a.jpg');
  });

  const sides =
    'resize takes a width, a height or both, of 1 to 8192 whole pixels; a mode (fill, smart, fit) needs both';
  const box =
    'crop takes x, y, width and height in whole pixels, a width and a height of 1 at least';
  it('ignores undefined operations, whatever their names', () => {
    const asked = { resize: { width: 10 }, blur: undefined };
    expect(urls.derived('a.jpg', asked)).toBe('https://shop.img.example/resize/10x/f/a.jpg');
  });

  it.each([
    [{ resize: { width: 9000 } }, sides],
    [{ format: 'webp', resize: { width: 1.5 } }, sides],
    [{ resize: { width: 10, mode: 'smart' } }, sides],
    [{ resize: {} }, sides],
    [{ quality: 0 }, 'quality takes a whole number of 1 to 100'],
    [{ crop: { x: 0, y: 0, width: 0, height: 10 } }, box],
    [{ crop: { x: 0, y: 0, width: 10, height: 0 } }, box],
    [{ format: 'bmp' }, 'format takes webp, avif, jpeg, png'],
    [{ preset: 'No' }, 'preset takes the name of a resolution preset of the project'],
    [{ watermark: 'a/b' }, "watermark takes 'default', or the id of a preset"],
    [{ resize: { width: 10 }, blur: 3 }, 'there is no blur'],
    [{}, 'name one of resize, crop, format, quality, watermark, preset'],
    [{ quality: undefined }, 'name one of resize, crop, format, quality, watermark, preset'],
  ])('rejects the transform %j, and says what is possible', (asked, help) => {
    const says = `${JSON.stringify(asked)} cannot be written as a transform chain: ${help}`;
    expect(() => urls.derived('a.jpg', asked as Transform)).toThrow(new RangeError(says));
  });

  it.each(['', 'shop.img.example', 'localhost:8080', undefined])(
    'rejects the origin %j',
    (origin) => {
      const says = `origin is '${origin}', which is not an http(s) URL: use one such as https://images.example`;
      expect(() => deliveryUrls(origin as string)).toThrow(new TypeError(says));
    },
  );

  it.each([undefined, null, 'resize/640x'])('rejects %j, which is not an object', (asked) => {
    const says = 'a transform is an object, such as { resize: { width: 640 } }';
    const derive = () => urls.derived('a.jpg', asked as unknown as Transform);
    expect(derive).toThrow(new RangeError(says));
  });

  it.each(['', 'A.jpg', '../a', 'a b', undefined])('rejects the file slug %j', (slug) => {
    expect(() => urls.original(slug as string)).toThrow(RangeError);
  });
});
