import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findFormat,
  formats,
  pixelLimit,
  SNIFF_BYTES,
  sniffContentType,
} from '../../../../runtime/core/image/formats.ts';
import { SVG_BYTES_MAX } from '../../../../runtime/core/limits.ts';

function bytes(...parts: (string | number[])[]): Uint8Array {
  return Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part),
    ),
  );
}

/** The first box of an ISO media file. */
function ftyp(major: string, ...compatible: string[]): Uint8Array {
  const size = 16 + 4 * compatible.length;
  return bytes([0, 0, 0, size], 'ftyp', major, [0, 0, 0, 0], ...compatible, 'meta');
}

describe('the table of formats', () => {
  it('has the eight upload types in the order of the specification', () => {
    expect(formats.map((row) => row.content_type)).toEqual([
      'image/jpeg',
      'image/png',
      'image/webp',
      'image/avif',
      'image/gif',
      'image/tiff',
      'image/bmp',
      'image/svg+xml',
    ]);
  });

  it('stores every type as itself, except BMP and TIFF, which become PNG', () => {
    const changed = formats.filter((row) => row.stored_as !== row.content_type);
    expect(changed.map((row) => [row.content_type, row.stored_as])).toEqual([
      ['image/tiff', 'image/png'],
      ['image/bmp', 'image/png'],
    ]);
  });

  it('stores only types that have a row in the table', () => {
    for (const { stored_as } of formats) expect(findFormat(stored_as)?.stored_as).toBe(stored_as);
    expect(findFormat('image/heic')).toBeUndefined();
  });
});

describe('sniffContentType', () => {
  const RIFF = ['RIFF', [0, 1, 0, 0]] as const;
  const bitmap = (header: number) =>
    bytes('BM', [99, 0, 0, 0], [0, 0, 0, 0], [54, 0, 0, 0], [header, 0, 0, 0]);

  it.each([
    ['image/jpeg', 'JFIF', bytes([0xff, 0xd8, 0xff, 0xe0, 0, 16], 'JFIF')],
    ['image/jpeg', 'Exif', bytes([0xff, 0xd8, 0xff, 0xe1])],
    ['image/png', 'PNG', bytes([0x89], 'PNG\r\n', [0x1a], '\n')],
    ['image/webp', 'lossy', bytes(...RIFF.map((part) => [...bytes(part as string)]), 'WEBPVP8 ')],
    ['image/avif', 'still', ftyp('avif', 'mif1', 'miaf')],
    ['image/avif', 'sequence', ftyp('avis', 'msf1')],
    ['image/avif', 'under a generic brand', ftyp('mif1', 'avif', 'miaf')],
    ['image/heic', 'still', ftyp('heic', 'mif1')],
    ['image/heic', 'sequence', ftyp('hevc', 'msf1')],
    ['image/heic', 'under a generic brand', ftyp('mif1', 'heic')],
    ['image/heic', 'with avif as another brand', ftyp('heic', 'avif')],
    ['image/gif', '87a', bytes('GIF87a')],
    ['image/gif', '89a', bytes('GIF89a')],
    ['image/tiff', 'little-endian', bytes('II', [42, 0, 8, 0, 0, 0])],
    ['image/tiff', 'big-endian', bytes('MM', [0, 42, 0, 0, 0, 8])],
    ['image/tiff', 'BigTIFF', bytes('II', [43, 0, 8, 0, 0, 0])],
    ['image/bmp', 'OS/2', bitmap(12)],
    ['image/bmp', 'version 3', bitmap(40)],
    ['image/bmp', 'version 5', bitmap(124)],
    ['image/svg+xml', 'bare', bytes('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['image/svg+xml', 'after a declaration', bytes('<?xml version="1.0"?>\n<svg>')],
    ['image/svg+xml', 'after a byte order mark', bytes([0xef, 0xbb, 0xbf], '<svg>')],
    ['image/svg+xml', 'of UTF-16 with a mark', Buffer.from('\ufeff<svg>', 'utf16le')],
    ['image/svg+xml', 'of UTF-16, big-endian', Buffer.from('\ufeff<svg>', 'utf16le').swap16()],
    [
      'image/svg+xml',
      'of UTF-16 by its declaration',
      Buffer.from('<?xml version="1.0"?><svg>', 'utf16le'),
    ],
    ['image/svg+xml', 'after comments', bytes(' <!-- a <html> --> <!-- b --><svg/>')],
    ['image/svg+xml', 'after a doctype', bytes('<!DOCTYPE svg PUBLIC "a" "b"><svg>')],
    ['image/svg+xml', 'after entities', bytes('<!DOCTYPE svg [<!ENTITY a "b">]><svg>')],
    ['image/svg+xml', 'with a prefix', bytes('<s:svg xmlns:s="http://www.w3.org/2000/svg">')],
  ])('recognizes %s: %s', (content_type, _, head) => {
    expect(sniffContentType(head)).toBe(content_type);
  });

  it.each([
    ['nothing', bytes('')],
    ['plain text', bytes('BMW is a car maker, and this is a text')],
    ['HTML', bytes('<!DOCTYPE html><html><svg/></html>')],
    ['XML of another vocabulary', bytes('<?xml version="1.0"?><svgs/>')],
    ['XML with an <svg> only in a comment', bytes('<!-- <svg/>')],
    ['compressed SVG', bytes([0x1f, 0x8b, 8, 0])],
    ['a WAV file', bytes('RIFF', [0, 0, 0, 0], 'WAVE')],
    ['a video', ftyp('isom', 'mp42')],
    ['a truncated JPEG', bytes([0xff, 0xd8])],
    [
      'a bitmap with an unknown header',
      bytes('BM', [1, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 41, 0, 0, 0]),
    ],
    ['a PDF', bytes('%PDF-1.7')],
    ['a ZIP', bytes('PK', [3, 4])],
    ['an empty box', bytes([0, 0, 0, 8], 'ftyp')],
  ])('returns undefined for %s', (_, head) => {
    expect(sniffContentType(head)).toBeUndefined();
  });

  it('never throws, whatever the bytes', () => {
    const heads = fc.uint8Array({ maxLength: 64 });
    fc.assert(fc.property(heads, (head) => void sniffContentType(head)));
    const brands = fc.tuple(fc.uint8Array({ minLength: 4, maxLength: 4 }), heads);
    const boxes = brands.map(([size, rest]) => bytes([...size], 'ftyp', [...rest]));
    fc.assert(fc.property(boxes, (head) => void sniffContentType(head)));
  });

  it('finds an SVG after a comment of any length if it receives the whole file', () => {
    const document = Buffer.from(`<!-- ${'Licence. '.repeat(SNIFF_BYTES)}--><svg>`);
    expect(sniffContentType(document)).toBe('image/svg+xml');
    expect(sniffContentType(document.subarray(0, SNIFF_BYTES))).toBeUndefined();
    expect(sniffContentType(document.subarray(0, -1))).toBeUndefined();
    expect(sniffContentType(Buffer.alloc(2 * SVG_BYTES_MAX, ' <!---->'))).toBeUndefined();
  });

  it('stays fast on 2 MB of repeated markup without an SVG', () => {
    for (const part of [
      '<!--',
      '<!---->',
      '<?a?>',
      '<!doctype>',
      '<!doctype[]>',
      '<!doctype',
      ' ',
    ]) {
      const many = Buffer.from(part.repeat(SVG_BYTES_MAX / part.length));
      const began = performance.now();
      expect(sniffContentType(many)).toBeUndefined();
      expect(performance.now() - began, part).toBeLessThan(10_000);
    }
  });
});

describe('pixelLimit', () => {
  const facts = { bits_per_channel: 8, has_alpha: false, is_lossless: false };
  const lossless = { is_lossless: true };
  const alpha = { has_alpha: true };

  it.each([
    ['image/jpeg', {}, 128],
    ['image/png', { is_lossless: true }, 128],
    ['image/png', { is_lossless: true, has_alpha: true }, 128],
    ['image/png', { bits_per_channel: 16 }, 50],
    ['image/gif', {}, 50],
    ['image/tiff', {}, 50],
    ['image/tiff', { bits_per_channel: 16 }, 50],
    ['image/bmp', {}, 50],
    ['image/webp', {}, 50],
    ['image/webp', lossless, 49],
    ['image/webp', { ...lossless, ...alpha }, 32],
    ['image/webp', alpha, 38],
    ['image/avif', {}, 28],
    ['image/avif', { bits_per_channel: 12 }, 28],
  ] as const)('for %s with %o is %i megapixels', (content_type, change, megapixels) => {
    expect(pixelLimit({ ...facts, content_type, ...change })).toBe(megapixels * 1_000_000);
  });

  it('for an SVG is the area of its raster grid', () => {
    expect(pixelLimit({ ...facts, content_type: 'image/svg+xml' })).toBe(2048 * 2048);
  });
});
