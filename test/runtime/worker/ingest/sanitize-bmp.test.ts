import { execFileSync } from 'node:child_process';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { type Bits, type BmpOptions, printBmp, runLengths, wrapBmp } from '../../../support/bmp.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { drawing, seededRandom } from '../../../support/pictures.ts';

const BMP = 'image/bmp';
const decoder = useDecoder();

const HEADERS = [12, 16, 40, 52, 56, 64, 108, 124];
/** Not multiples of the row alignment. */
const [WIDTH, HEIGHT] = [37, 11];
const random = seededRandom(7);
const noise = Array.from({ length: WIDTH * HEIGHT }, () => Math.floor(random() * 2 ** 32));
const numberAt = (x: number, y: number) => noise[y * WIDTH + x] ?? 0;
const masked = (mask: number): Bits => ({
  width: WIDTH,
  height: HEIGHT,
  pixelAt: (x, y) => (numberAt(x, y) & mask) >>> 0,
});
const paletteOf = (bits: number) =>
  Array.from(
    { length: 1 << bits },
    (_, index) => [index * 3, 255 - index, (index * 77) % 256].map((v) => v % 256) as Color,
  );
type Color = [number, number, number];

async function pixelsOf(upload: Buffer): Promise<Buffer> {
  const { master, content_type, width, height } = await decoder.ingest(upload, BMP);
  const seen = await sharp(master).metadata();
  expect([content_type, width, height, seen.format]).toEqual(['image/png', WIDTH, HEIGHT, 'png']);
  return sharp(master).raw().toBuffer();
}

/** Pixels from the top row down, with the channels that `colorOf` returns. */
function expectedPixels({ pixelAt }: Bits, colorOf: (value: number) => readonly number[]): Buffer {
  const samples = Array.from({ length: WIDTH * HEIGHT }, (_, index) =>
    colorOf(pixelAt(index % WIDTH, Math.floor(index / WIDTH))),
  );
  return Buffer.from(samples.flat());
}

const triple = (value: number) => [value >>> 16, (value >>> 8) & 255, value & 255];

describe('converting a BMP to PNG', () => {
  it.each(HEADERS)('keeps 24-bit pixels with a header of %d bytes', async (header) => {
    const picture = masked(0xffffff);
    const seen = await pixelsOf(printBmp(picture, { header, bits: 24 }));
    expect(seen.equals(expectedPixels(picture, triple))).toBe(true);
  });

  it.each(HEADERS.flatMap((header) => [1, 4, 8].map((bits) => [header, bits] as const)))(
    'keeps the pixels with a header of %d bytes and a palette of %d bits',
    async (header, bits) => {
      const palette = paletteOf(bits);
      const picture = masked((1 << bits) - 1);
      const options = { header, bits, palette } as BmpOptions;
      const seen = await pixelsOf(printBmp(picture, options));
      expect(seen.equals(expectedPixels(picture, (index) => palette[index] ?? []))).toBe(true);
    },
  );

  it('reads 16-bit pixels as 5 bits per color and 32-bit pixels as 8, ignoring unused bits', async () => {
    const high = masked(0x7fff);
    const five = (value: number) => Math.round((value * 255) / 31);
    const deep = (value: number) => [value >> 10, (value >> 5) & 31, value & 31].map(five);
    const ofHigh = await pixelsOf(printBmp(high, { bits: 16 }));
    expect(ofHigh.equals(expectedPixels(high, deep))).toBe(true);
    const full = masked(0xffffffff);
    const ofFull = await pixelsOf(printBmp(full, { bits: 32 }));
    expect(ofFull.equals(expectedPixels(full, (value) => triple(value & 0xffffff)))).toBe(true);
  });

  it.each([
    [40, 16, [0xf800, 0x07e0, 0x001f, 0]],
    [52, 16, [0x0f00, 0x00f0, 0x000f, 0]],
    [56, 16, [0x7c00, 0x03e0, 0x001f, 0x8000]],
    [108, 16, [0x0f00, 0x00f0, 0x000f, 0xf000]],
    [40, 32, [0xff0000, 0xff00, 0xff, 0]],
    [52, 32, [0xff, 0xff00, 0xff0000, 0]],
    [56, 32, [0xff0000, 0xff00, 0xff, 0xff000000]],
    [108, 32, [0xff000000, 0xff0000, 0xff00, 0xff]],
    [124, 32, [0x3ff00000, 0xffc00, 0x3ff, 0xc0000000]],
  ] as const)(
    'reads pixels with a header of %d bytes, %d bits and color masks',
    async (header, bits, masks) => {
      const picture = masked(bits === 16 ? 0xffff : 0xffffffff);
      const channels = masks[3] === 0 ? masks.slice(0, 3) : masks;
      const colorOf = (value: number) =>
        channels.map((mask) => {
          const unit = 2 ** Math.log2((mask & -mask) >>> 0);
          const most = mask / unit;
          return Math.round((Math.floor(((value & mask) >>> 0) / unit) * 255) / most);
        });
      const seen = await pixelsOf(printBmp(picture, { header, bits, masks }));
      expect(seen.equals(expectedPixels(picture, colorOf))).toBe(true);
    },
  );

  it('reads four color masks behind a short header', async () => {
    const masks = [0xff, 0xff00, 0xff0000, 0xff000000] as const;
    const picture = masked(0xffffffff);
    const rows = printBmp(picture, { bits: 32, masks }).subarray(14 + 40 + 12);
    const upload = wrapBmp(picture, { bits: 32, masks }, { rows, compression: 6 });
    const bytes = (value: number) => [0, 8, 16, 24].map((shift) => (value >>> shift) & 255);
    expect((await pixelsOf(upload)).equals(expectedPixels(picture, bytes))).toBe(true);
  });

  it('makes the image opaque if its alpha is zero everywhere', async () => {
    const masks = [0xff0000, 0xff00, 0xff, 0xff000000] as const;
    const picture = masked(0xffffff);
    const seen = await pixelsOf(printBmp(picture, { header: 56, bits: 32, masks }));
    const opaque = (value: number) => [...triple(value), 255];
    expect(seen.equals(expectedPixels(picture, opaque))).toBe(true);
  });

  it('reads rows stored from the top down', async () => {
    const picture = masked(0xffffff);
    const seen = await pixelsOf(printBmp(picture, { bits: 24, order: 'top-down' }));
    expect(seen.equals(expectedPixels(picture, triple))).toBe(true);
  });

  it.each([4, 8] as const)('reads run-length encoded pixels of %d bits', async (bits) => {
    const palette = paletteOf(bits);
    const colors = [0, 0, 0, 0, 0, 3, 3, 3, 7, 1, 2, 3, 4, 5];
    const picture: Bits = {
      width: WIDTH,
      height: HEIGHT,
      pixelAt: (x, y) => colors[(x + y * 5) % colors.length] ?? 0,
    };
    const rows = runLengths(picture, { bits });
    const upload = wrapBmp(picture, { bits, palette }, { rows, compression: bits === 8 ? 1 : 2 });
    const expected = expectedPixels(picture, (index) => palette[index] ?? []);
    expect((await pixelsOf(upload)).equals(expected)).toBe(true);
  });

  it('makes PNG mezzanine images of a drawing', async () => {
    const { data, width, height } = drawing(1200, 800);
    const pixelAt = (x: number, y: number) => data.readUIntBE((y * width + x) * 3, 3);
    const upload = printBmp({ width, height, pixelAt }, { bits: 24 });
    const { mezzanines, master } = await decoder.ingest(upload, BMP);
    expect(mezzanines.map((one) => one.content_type)).toEqual(['image/png', 'image/png']);
    expect((await sharp(master).raw().toBuffer()).equals(data)).toBe(true);
  });

  it.each([
    [['BMP3:-']],
    [['BMP2:-']],
    [['BMP:-']],
    [['-type', 'palette', 'BMP3:-']],
    [['-type', 'palette', '-compress', 'RLE', 'BMP3:-']],
    [['-monochrome', 'BMP3:-']],
    [['-define', 'bmp:subtype=RGB565', 'BMP:-']],
    [['-define', 'bmp:subtype=RGB555', 'BMP:-']],
    [['-alpha', 'set', 'BMP:-']],
  ])('gives the same pixels as ImageMagick: %j', async (options) => {
    const upload = magick(['-size', '37x11', 'plasma:red-blue', '-seed', '3', ...options]);
    const rgb = magick(['BMP:-', '-depth', '8', 'RGB:-'], upload);
    const { master } = await decoder.ingest(upload, BMP);
    const seen = await sharp(master).removeAlpha().raw().toBuffer();
    expect(seen.length).toBe(rgb.length);
    for (const [index, value] of seen.entries()) {
      expect(Math.abs(value - (rgb[index] ?? 0)), `sample ${index}`).toBeLessThanOrEqual(1);
    }
  });
});

const IMAGE_MAGICK = 'convert';

function magick(options: readonly string[], input?: Buffer): Buffer {
  return execFileSync(IMAGE_MAGICK, options, { input, stdio: ['pipe', 'pipe', 'ignore'] });
}

describe('an unsupported or damaged BMP', () => {
  const picture = masked(0xffffff);
  const lie = (at: number, size: 2 | 4, value: number, options: Partial<BmpOptions> = {}) =>
    decoder.refusal(printBmp(picture, { bits: 24, ...options, lies: [{ at, size, value }] }), BMP);

  it.each([
    ['no width', 18, 4, 0],
    ['a negative width', 18, 4, 0xffffffff],
    ['no height', 22, 4, 0],
    ['the lowest possible height', 22, 4, 0x80000000],
    ['two planes', 26, 2, 2],
    ['more rows than bytes', 22, 4, 12],
    ['pixels inside its header', 10, 4, 20],
    ['pixels outside the file', 10, 4, 0xfffffff0],
  ] as const)(
    'is rejected with decode_failed or image_too_large for %s',
    async (_, at, size, value) => {
      expect(['decode_failed', 'image_too_large']).toContain(await lie(at, size, value));
    },
  );

  it.each([
    ['2 bits', 28, 2, 2],
    ['48 bits', 28, 2, 48],
    ['a JPEG inside', 30, 4, 4],
    ['a PNG inside', 30, 4, 5],
    ['run lengths with 24 bits', 30, 4, 1],
    ['masks with 24 bits', 30, 4, 3],
    ['CMYK', 30, 4, 11],
  ] as const)('is rejected with unsupported_media_type for %s', async (_, at, size, value) => {
    expect(await lie(at, size, value)).toBe('unsupported_media_type');
  });

  it('is rejected with unsupported_media_type for the encodings of OS/2', async () => {
    expect(await lie(30, 4, 3, { header: 64, bits: 1 })).toBe('unsupported_media_type');
    expect(await lie(30, 4, 4, { header: 64 })).toBe('unsupported_media_type');
  });

  it('is rejected with image_too_large for a size above the limit', async () => {
    expect(await lie(22, 4, 2_000_000)).toBe('image_too_large');
    const long = { width: 70_000, height: 1, pixelAt: () => 0 };
    expect(await decoder.refusal(printBmp(long, { bits: 24 }), BMP)).toBe('image_too_large');
  });

  it('is rejected with decode_failed for color masks that overlap, have holes or are empty', async () => {
    for (const masks of [
      [0xff, 0xff, 0xff00, 0],
      [0xf0f, 0xf0, 0xff0000, 0],
      [0, 0, 0, 0],
    ] as const) {
      const upload = printBmp(masked(0xffffffff), { bits: 32, masks });
      expect(await decoder.refusal(upload, BMP)).toBe('decode_failed');
    }
    const wide = printBmp(masked(0xffff), { bits: 16, masks: [0xff0000, 0xff00, 0xff, 0] });
    expect(await decoder.refusal(wide, BMP)).toBe('decode_failed');
  });

  it('is rejected with decode_failed for an index outside its palette, or an impossible palette size', async () => {
    const palette = paletteOf(8).slice(0, 100);
    const upload = printBmp(masked(0xff), { bits: 8, palette });
    expect(await decoder.refusal(upload, BMP)).toBe('decode_failed');
    const lies = [{ at: 46, size: 4, value: 0xffffffff }] as const;
    const many = printBmp(masked(0x3f), { bits: 8, palette, lies });
    expect(await decoder.refusal(many, BMP)).toBe('decode_failed');
  });

  it.each([
    ['a run beyond the end of its row', [200, 1, 0, 1]],
    ['a literal run beyond the end of its row', [0, 200, ...Array.from({ length: 200 }, () => 1)]],
    ['one row too many', [...Array.from({ length: 24 }, () => 0), 1, 1]],
    ['a move beyond the picture', [0, 2, 0, 200, 0, 1]],
    ['no end marker', [5, 1, 0, 0]],
    ['a truncated literal run', [0, 30, 1, 2, 3]],
  ])('is rejected with decode_failed for %s', async (_, bytes) => {
    const rows = Buffer.from(bytes);
    const palette = paletteOf(8);
    const upload = wrapBmp(picture, { bits: 8, palette }, { rows, compression: 1 });
    expect(await decoder.refusal(upload, BMP)).toBe('decode_failed');
  });

  it('is rejected with decode_failed for run-length encoded rows from the top down', async () => {
    const options = { bits: 8, palette: paletteOf(8), order: 'top-down' } as const;
    const upload = wrapBmp(picture, options, { rows: Buffer.from([0, 1]), compression: 1 });
    expect(await decoder.refusal(upload, BMP)).toBe('decode_failed');
  });

  it('is rejected with unsupported_media_type for a linked profile or one other than sRGB', async () => {
    expect(await lie(70, 4, 0x4c494e4b, { header: 124 })).toBe('unsupported_media_type');
    const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
      .withIccProfile('p3')
      .jpeg()
      .toBuffer();
    const icc = (await sharp(jpeg).metadata()).icc ?? Buffer.alloc(0);
    const plain = printBmp(picture, { header: 124, bits: 24 });
    const lies = [
      { at: 70, size: 4, value: 0x4d424544 },
      { at: 126, size: 4, value: plain.length - 14 },
      { at: 130, size: 4, value: icc.length },
    ] as const;
    const upload = Buffer.concat([printBmp(picture, { header: 124, bits: 24, lies }), icc]);
    expect(await decoder.refusal(upload, BMP)).toBe('unsupported_media_type');
  });
});
