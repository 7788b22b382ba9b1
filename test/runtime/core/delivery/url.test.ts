import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printChain } from '../../../../runtime/core/delivery/chain.ts';
import {
  type DeliveryTarget,
  parseDeliveryUrl,
  printDeliveryPath,
  printDeliveryUrl,
} from '../../../../runtime/core/delivery/url.ts';
import { chains } from '../../../support/chains.ts';

const slugs = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,127}$/);
const targets: fc.Arbitrary<DeliveryTarget> = fc.oneof(
  fc.record({
    kind: fc.constant('derived' as const),
    chain_text: chains.map(printChain),
    file_slug: slugs,
  }),
  fc.record({ kind: fc.constantFrom('originals' as const, 'raw' as const), file_slug: slugs }),
);
const signatures = fc.record({
  exp: fc.integer({ min: 0, max: 99_999_999_999 }),
  kid: fc.stringMatching(/^[a-z0-9_]{1,40}$/),
  sig: fc.stringMatching(/^[A-Za-z0-9_-]{43}$/),
});
const QUERY = 'exp=1790000000&kid=kid_1&sig=abc_-9';

function derived(chain_text: string, file_slug: string) {
  return { kind: 'derived', chain_text, file_slug };
}

describe('parseDeliveryUrl', () => {
  it.each([
    ['/resize/640x480/f/photo', derived('resize/640x480', 'photo')],
    ['/resize/640x480/format/webp/f/a.b-c_d', derived('resize/640x480/format/webp', 'a.b-c_d')],
    ['/preset:thumb/f/f', derived('preset:thumb', 'f')],
    ['/f/f/f', derived('f', 'f')],
    ['/watermark:wm_1/f/photo..jpg', derived('watermark:wm_1', 'photo..jpg')],
    ['/originals/f/photo', { kind: 'originals', file_slug: 'photo' }],
    ['/download/raw/f/photo', { kind: 'raw', file_slug: 'photo' }],
    ['/nonsense/f/photo', derived('nonsense', 'photo')],
    ['/originals/resize/1x1/f/photo', derived('originals/resize/1x1', 'photo')],
    ['/download/f/photo', derived('download', 'photo')],
  ])('parses %s as %o', (path, target) => {
    expect(parseDeliveryUrl(path)).toEqual({ path, target, signature: null });
  });

  it.each([
    ['', 'nothing'],
    ['/', 'no path'],
    ['*', 'the asterisk form'],
    ['photo', 'no slash'],
    ['http://shop.example/originals/f/photo', 'the absolute form'],
    ['/f/photo', 'no chain'],
    ['//f/photo', 'an empty chain'],
    ['/originals/photo', 'no f segment'],
    ['/originals/g/photo', 'another segment'],
    ['/originals/f/', 'no slug'],
    ['/originals/f/photo/', 'a trailing slash'],
    ['/originals/f/photo/x', 'more after the slug'],
    ['//originals/f/photo', 'two slashes'],
    ['/originals//f/photo', 'two slashes'],
    ['/originals/f//photo', 'two slashes'],
    ['/resize/1x1//format/webp/f/photo', 'two slashes'],
    ['/./originals/f/photo', 'a dot segment'],
    ['/x/../originals/f/photo', 'a dot segment'],
    ['/originals/f/..', 'a dot segment'],
    ['/originals/f/.', 'a dot segment'],
    ['/originals/f/-photo', 'a slug that begins with a mark'],
    ['/originals/f/_photo', 'a slug that begins with a mark'],
    [`/originals/f/${'a'.repeat(129)}`, 'a slug that is too long'],
    ['/originals/f/Photo', 'upper case'],
    ['/Originals/f/photo', 'upper case'],
    ['/originals/F/photo', 'upper case'],
    ['/resize/640X480/f/photo', 'upper case in a chain'],
    ['/resize/640%78480/f/photo', 'an escape in a chain'],
    ['/originals/f/ph%6fto', 'an escape'],
    ['/originals%2ff/photo', 'an escaped slash'],
    ['/originals/f/photo%00', 'an escaped NUL'],
    ['/originals/f/photo%', 'a lone percent sign'],
    ['/originals/f\\photo', 'a backslash'],
    ['/originals/f/photo;v=1', 'a path parameter'],
    ['/originals/f/photo#top', 'a fragment'],
    ['/originals/f/photo ', 'a space'],
    ['/originals/f/photo+1', 'a plus sign'],
    ['/originals/f/phöto', 'a letter beyond ASCII'],
    ['/originals/f/pho\u212Ato', 'the Kelvin sign'],
    ['/originals/f/photo\n', 'a line feed'],
    ['/originals/f/photo\u0000', 'a NUL'],
    ['/originals/f/photo@2x', 'a character outside the alphabet'],
    ['/originals/f/photo~1', 'a character outside the alphabet'],
  ])('rejects %j: %s', (target) => {
    expect(parseDeliveryUrl(target)).toBeUndefined();
  });

  it('parses the signature', () => {
    expect(parseDeliveryUrl(`/originals/f/photo?${QUERY}`)).toEqual({
      path: '/originals/f/photo',
      target: { kind: 'originals', file_slug: 'photo' },
      signature: { exp: 1_790_000_000, kid: 'kid_1', sig: 'abc_-9' },
    });
  });

  it.each([
    ['', 'an empty query'],
    ['v=1', 'any query of an unsigned URL'],
    ['exp=1790000000&kid=kid_1', 'a parameter missing'],
    ['kid=kid_1&sig=abc', 'a parameter missing'],
    ['sig=abc_-9&exp=1790000000&kid=kid_1', 'another order'],
    ['kid=kid_1&exp=1790000000&sig=abc_-9', 'another order'],
    ['exp=1790000000&sig=abc_-9&kid=kid_1', 'another order'],
    [`${QUERY}&`, 'an empty pair'],
    [`&${QUERY}`, 'an empty pair'],
    [`${QUERY}&v=1`, 'another parameter'],
    [`${QUERY}&exp=1790000000`, 'exp twice'],
    [`${QUERY}&sig=abc_-9`, 'sig twice'],
    ['exp=1&exp=1&sig=abc', 'exp twice in the place of kid'],
    ['exp=01790000000&kid=kid_1&sig=abc', 'a leading zero'],
    ['exp=+1790000000&kid=kid_1&sig=abc', 'a sign'],
    ['exp=-1&kid=kid_1&sig=abc', 'a sign'],
    ['exp=1.5&kid=kid_1&sig=abc', 'a fraction'],
    ['exp=1e9&kid=kid_1&sig=abc', 'an exponent'],
    ['exp=&kid=kid_1&sig=abc', 'no value'],
    ['exp=9999999999999999&kid=kid_1&sig=abc', 'a number beyond what is exact'],
    ['exp=1790000000&kid=&sig=abc', 'no value'],
    ['exp=1790000000&kid=kid_1&sig=', 'no value'],
    ['exp=1790000000&kid=kid_1&sig=abc=', 'padding'],
    ['exp=1790000000&kid=kid_1&sig=ab%63', 'an escape'],
    ['exp=1790000000&kid=kid_1&sig=abc#x', 'a fragment'],
    ['EXP=1790000000&kid=kid_1&sig=abc', 'a name in upper case'],
    ['exp=1790000000;kid=kid_1;sig=abc', 'semicolons'],
    [`${QUERY}?${QUERY}`, 'two queries'],
  ])('rejects the query ?%s: %s', (query) => {
    expect(parseDeliveryUrl(`/originals/f/photo?${query}`)).toBeUndefined();
  });

  it('keeps a chain as written, without checking its grammar', () => {
    const parsed = parseDeliveryUrl('/resize/0640x480/f/photo');
    expect(parsed?.target).toMatchObject({ kind: 'derived', chain_text: 'resize/0640x480' });
  });

  it('never throws, whatever the text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseDeliveryUrl(text)));
  });
});

describe('printDeliveryPath and printDeliveryUrl', () => {
  it('print a path that parses back to the same target', () => {
    fc.assert(
      fc.property(targets, (target) => {
        const path = printDeliveryPath(target);
        expect(parseDeliveryUrl(path)).toEqual({ path, target, signature: null });
      }),
    );
  });

  it('print any parsed path back exactly as it was written', () => {
    const words = fc.constantFrom('originals', 'download', 'raw', 'f');
    const segments = fc.oneof(words, fc.stringMatching(/^[a-z0-9][a-z0-9_.,:-]{0,12}$/));
    const prefixes = fc.array(segments, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(prefixes, slugs, (prefix, slug) => {
        const path = `/${prefix.join('/')}/f/${slug}`;
        const parsed = parseDeliveryUrl(path) ?? expect.fail('it is a valid path');
        expect(printDeliveryPath(parsed.target)).toBe(path);
      }),
    );
  });

  it('print a URL that parses back to the same target and signature', () => {
    fc.assert(
      fc.property(targets, signatures, (target, signature) => {
        const path = printDeliveryPath(target);
        const url = printDeliveryUrl({ scheme: 'https', host: 'shop.example', path, signature });
        expect(parseDeliveryUrl(url.slice('https://shop.example'.length))).toEqual({
          path,
          target,
          signature,
        });
      }),
    );
  });

  it.each([
    ['https', null, 'https://shop.example/originals/f/a'],
    ['https', 443, 'https://shop.example/originals/f/a'],
    ['http', 80, 'http://shop.example/originals/f/a'],
    ['http', 8081, 'http://shop.example:8081/originals/f/a'],
    ['https', 80, 'https://shop.example:80/originals/f/a'],
  ] as const)('print %s with port %s as %s', (scheme, port, url) => {
    const path = '/originals/f/a';
    expect(printDeliveryUrl({ scheme, host: 'shop.example', port, path })).toBe(url);
  });
});
