import sharp, { type TiffOptions } from 'sharp';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import {
  cutOut,
  deepPng,
  drawing,
  over,
  photograph,
  psnr,
  quarters,
  seededRandom,
} from '../../../support/pictures.ts';
import { printTiff, type TiffPage } from '../../../support/tiff.ts';

const TIFF = 'image/tiff';
const decoder = useDecoder();
const raw = (bytes: Buffer) => sharp(bytes).raw().toBuffer();

const picture = photograph(96, 80);
const page: TiffPage = { width: 96, height: 80, samples: 3, strips: [picture.data] };

describe('converting a TIFF to PNG', () => {
  it.each([
    ['none', {}],
    ['lzw', {}],
    ['lzw', { predictor: 'horizontal' }],
    ['deflate', {}],
    ['packbits', {}],
    ['lzw', { tile: true, tileWidth: 32, tileHeight: 48 }],
    ['deflate', { bigtiff: true }],
  ] satisfies [string, TiffOptions][])('keeps every pixel: %s %j', async (compression, options) => {
    const upload = await over(picture)
      .tiff({ predictor: 'none', ...options, compression } as TiffOptions)
      .toBuffer();
    const result = await decoder.ingest(upload, TIFF);
    expect(result).toMatchObject({ content_type: 'image/png', width: 96, height: 80 });
    expect(result).toMatchObject({ has_alpha: false, is_lossless: true, native: null });
    expect((await sharp(result.master).metadata()).format).toBe('png');
    expect((await raw(result.master)).equals(picture.data)).toBe(true);
  });

  it('keeps every pixel in both byte orders, as BigTIFF and with separate planes', async () => {
    const planes = [0, 1, 2].map((channel) =>
      Buffer.from(picture.data.filter((_, index) => index % 3 === channel)),
    );
    const files = [
      printTiff([page]),
      printTiff([page], { order: 'MM' }),
      printTiff([page], { isBig: true }),
      printTiff([page], { order: 'MM', isBig: true }),
      printTiff([{ ...page, strips: planes }]),
    ];
    for (const [index, file] of files.entries()) {
      const { master } = await decoder.ingest(file, TIFF);
      expect((await raw(master)).equals(picture.data), `file ${index}`).toBe(true);
    }
  });

  it.each([0, 9, 255])('ignores the invalid orientation %i', async (turn) => {
    const planes = [0, 1, 2].map((channel) =>
      Buffer.from(picture.data.filter((_, index) => index % 3 === channel)),
    );
    const tags = { 274: [turn] };
    for (const options of [{}, { isBig: true }, { order: 'MM' }] as const) {
      for (const strips of [page.strips, planes]) {
        const { master } = await decoder.ingest(
          printTiff([{ ...page, strips, tags }], options),
          TIFF,
        );
        expect((await raw(master)).equals(picture.data)).toBe(true);
      }
    }
  });

  it('keeps the decoded pixels of a JPEG inside the TIFF', async () => {
    const upload = await over(picture).tiff({ compression: 'jpeg', quality: 90 }).toBuffer();
    const result = await decoder.ingest(upload, TIFF);
    expect(result).toMatchObject({ content_type: 'image/png', is_lossless: false });
    expect((await raw(result.master)).equals(await raw(upload))).toBe(true);
  });

  it('keeps 16 bits per sample', async () => {
    const upload = await sharp(await deepPng(80, 60))
      .toColourspace('rgb16')
      .tiff({ compression: 'lzw' })
      .toBuffer();
    const { master } = await decoder.ingest(upload, TIFF);
    const samples = (bytes: Buffer) =>
      sharp(bytes).toColourspace('rgb16').raw({ depth: 'ushort' }).toBuffer();
    expect((await sharp(master).metadata()).depth).toBe('ushort');
    expect((await samples(master)).equals(await samples(upload))).toBe(true);
  });

  it('keeps transparency and the colors of invisible pixels', async () => {
    const upload = await over(cutOut(64, 64)).tiff({ compression: 'deflate' }).toBuffer();
    const { master, has_alpha } = await decoder.ingest(upload, TIFF);
    expect(has_alpha).toBe(true);
    expect((await raw(master)).equals(cutOut(64, 64).data)).toBe(true);
  });

  it.each([1, 2, 4] as const)('keeps an image of %d bits per pixel gray', async (bitdepth) => {
    const grey = over(photograph(64, 48)).greyscale().toColourspace('b-w');
    const upload = await grey.tiff({ bitdepth, compression: 'none' }).toBuffer();
    const { master } = await decoder.ingest(upload, TIFF);
    const samples = (bytes: Buffer) => sharp(bytes).toColourspace('b-w').raw().toBuffer();
    expect((await sharp(master).metadata()).channels).toBe(1);
    expect((await samples(master)).equals(await samples(upload))).toBe(true);
  });

  it('inverts an image in which zero is white', async () => {
    const strips = [Buffer.from([0, 255, 128, 7])];
    const upload = printTiff([{ width: 2, height: 2, samples: 1, strips, tags: { 262: [0] } }]);
    const { master } = await decoder.ingest(upload, TIFF);
    const samples = await sharp(master).toColourspace('b-w').raw().toBuffer();
    expect([...samples]).toEqual([255, 0, 127, 248]);
  });

  it('applies the palette', async () => {
    const color = (shift: number) =>
      Array.from({ length: 256 }, (_, index) => (index === 1 ? 257 * shift : 0));
    const upload = printTiff([
      {
        width: 2,
        height: 1,
        samples: 1,
        strips: [Buffer.from([0, 1])],
        tags: { 262: [3], 320: [...color(10), ...color(200), ...color(30)] },
      },
    ]);
    const { master } = await decoder.ingest(upload, TIFF);
    expect([...(await raw(master))]).toEqual([0, 0, 0, 10, 200, 30]);
  });

  it('converts CMYK to sRGB and keeps no profile', async () => {
    const upload = await over(picture)
      .toColourspace('cmyk')
      .withIccProfile('cmyk')
      .tiff({ compression: 'lzw' })
      .toBuffer();
    const { master, native, metadata } = await decoder.ingest(upload, TIFF);
    expect([native, metadata.icc]).toEqual([null, undefined]);
    expect((await sharp(master).metadata()).space).toBe('srgb');
    expect(psnr(await raw(master), await raw(upload))).toBeGreaterThan(38);
  });

  it('converts another profile to sRGB, and keeps the original pixels and the profile beside it', async () => {
    const upload = await over(picture).withIccProfile('p3').tiff({ compression: 'lzw' }).toBuffer();
    const { master, native, metadata } = await decoder.ingest(upload, TIFF);
    expect((await raw(master)).equals(await raw(upload))).toBe(true);
    const own = await sharp(upload, { ignoreIcc: true }).raw().toBuffer();
    expect((await raw(native ?? Buffer.alloc(0))).equals(own)).toBe(true);
    expect(metadata.icc?.length).toBeGreaterThan(100);
  });

  it('applies each of the eight orientations', async () => {
    const { data } = quarters(64, 32);
    for (let orientation = 1; orientation <= 8; orientation += 1) {
      const turned: TiffPage = {
        width: 64,
        height: 32,
        samples: 3,
        strips: [data],
        tags: { 274: [orientation] },
      };
      const { master } = await decoder.ingest(printTiff([turned]), TIFF);
      const png = await over(quarters(64, 32)).png().withMetadata({ orientation }).toBuffer();
      const expected = await sharp(png).autoOrient().raw().toBuffer({ resolveWithObject: true });
      const seen = await sharp(master).raw().toBuffer({ resolveWithObject: true });
      expect([seen.info.width, seen.info.height]).toEqual([
        expected.info.width,
        expected.info.height,
      ]);
      expect(seen.data.equals(expected.data), `orientation ${orientation}`).toBe(true);
    }
  });

  it('divides colors by their alpha if they were multiplied with it', async () => {
    const strips = [Buffer.from([100, 50, 25, 128, 9, 8, 7, 255])];
    const tags = { 262: [2], 338: [1] };
    const upload = printTiff([{ width: 2, height: 1, samples: 4, strips, tags }]);
    const seen = await raw((await decoder.ingest(upload, TIFF)).master);
    const plain = [199, 100, 50, 128, 9, 8, 7, 255];
    for (const [index, value] of plain.entries()) {
      expect(Math.abs((seen[index] ?? 0) - value), `sample ${index}`).toBeLessThanOrEqual(1);
    }
  });

  it('reads the capture time', async () => {
    const room = Buffer.alloc(60_000);
    const end = printTiff([{ ...page, tags: { 34665: [70_000] } }]).length + room.length;
    const details = Buffer.alloc(2 + 12 + 4);
    details.writeUInt16LE(1, 0);
    details.writeUInt16LE(0x9003, 2);
    details.writeUInt16LE(2, 4);
    details.writeUInt32LE(20, 6);
    details.writeUInt32LE(end + details.length, 10);
    const upload = Buffer.concat([
      printTiff([{ ...page, tags: { 34665: [end] } }]),
      room,
      details,
      Buffer.from('2024:05:06 07:08:09\0'),
    ]);
    const { taken_at } = await decoder.ingest(upload, TIFF);
    expect(taken_at).toBe('2024-05-06T07:08:09.000Z');
  });

  it('does not count a reduced copy as a second page', async () => {
    const copy: TiffPage = {
      width: 2,
      height: 2,
      samples: 1,
      strips: [Buffer.alloc(4)],
      tags: { 254: [1] },
    };
    const { width, height } = await decoder.ingest(printTiff([page, copy]), TIFF);
    expect([width, height]).toEqual([96, 80]);
  });

  it('makes PNG mezzanine images of a drawing', async () => {
    const upload = await over(drawing(1200, 800)).tiff({ compression: 'lzw' }).toBuffer();
    const { mezzanines } = await decoder.ingest(upload, TIFF);
    expect(mezzanines.map((one) => [one.long_edge, one.content_type])).toEqual([
      [1024, 'image/png'],
      [720, 'image/png'],
    ]);
  });
});

describe('an unsupported or damaged TIFF', () => {
  const refusalOf = (tags: TiffPage['tags']) =>
    decoder.refusal(printTiff([{ ...page, tags: tags ?? {} }]), TIFF);

  it('is rejected with animated_not_supported for several pages', async () => {
    for (const isBig of [false, true]) {
      const refusal = await decoder.refusal(printTiff([page, page], { isBig }), TIFF);
      expect(refusal).toBe('animated_not_supported');
    }
  });

  it.each([6, 34712, 34661, 34925, 34926, 50000, 50001, 50002, 0, 65_535])(
    'is rejected with unsupported_media_type for compression %d',
    async (compression) => {
      expect(await refusalOf({ 259: [compression] })).toBe('unsupported_media_type');
    },
  );

  it.each([
    ['Lab', { 262: [8] }],
    ['sensor (CFA) data', { 262: [32_803] }],
    ['YCbCr without JPEG', { 262: [6] }],
    ['12 bits', { 258: [12, 12, 12] }],
    ['channels of different depth', { 258: [8, 8, 16] }],
    ['32 bits', { 258: [32, 32, 32] }],
    ['floating point', { 258: [16, 16, 16], 339: [3, 3, 3] }],
    ['too few samples', { 277: [2] }],
    ['too many samples', { 277: [6] }],
    ['a thumbnail as its first image', { 254: [1] }],
  ])('is rejected with unsupported_media_type for %s', async (_, tags) => {
    expect(await refusalOf(tags)).toBe('unsupported_media_type');
  });

  it('is rejected with image_too_large if the picture or its tiles exceed the limit', async () => {
    expect(await refusalOf({ 256: [10_000], 257: [5001] })).toBe('image_too_large');
    expect(await refusalOf({ 322: [65_520], 323: [65_520] })).toBe('image_too_large');
  });

  it.each([
    ['no width', { 256: [] }],
    ['no height', { 257: [0] }],
    ['no photometric interpretation', { 262: [] }],
    ['no strips', { 273: [] }],
    ['more pixels than bytes', { 256: [5000], 257: [5000] }],
  ])('is rejected with decode_failed for %s', async (_, tags) => {
    expect(await refusalOf(tags)).toBe('decode_failed');
  });

  it('is rejected with decode_failed for circular or too many directories', async () => {
    const circle = printTiff([page]);
    circle.writeUInt32LE(8, 8 + 2 + circle.readUInt16LE(8) * 12);
    expect(await decoder.refusal(circle, TIFF)).toBe('decode_failed');
    const copies = Array.from({ length: 40 }, () => ({ ...page, tags: { 254: [1] } }));
    expect(await decoder.refusal(printTiff([page, ...copies]), TIFF)).toBe('decode_failed');
  });

  it('is rejected with decode_failed for strips beyond the end of the file', async () => {
    const random = seededRandom(3);
    for (let index = 0; index < 10; index += 1) {
      const file = printTiff([page]);
      const at = file.indexOf(Buffer.from([0x11, 0x01])) + 8;
      file.writeUInt32LE(Math.floor(random() * 4_000_000_000) + file.length, at);
      expect(await decoder.refusal(file, TIFF)).toBe('decode_failed');
    }
  });
});
