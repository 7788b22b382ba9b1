// PNGs of every color type and depth keep all samples. Expected pixels are computed from the samples. Spec: What the
// service does; Processing error codes.
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { dropTexts } from '../../../../runtime/worker/ingest/drop-texts.ts';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { pngChunk } from '../../../support/pictures.ts';
import { type PngSamples, printPng } from '../../../support/png.ts';

const decoder = useDecoder();
const SIZE = { width: 37, height: 23 };
const channels = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 } as const;
type Color = PngSamples['color'];
type Depth = PngSamples['depth'];

/** Covers all values of the depth, differently in each channel. */
function samplesOf(color: Color, depth: Depth): PngSamples['samplesAt'] {
  const levels = 2 ** depth;
  return (x, y) =>
    Array.from({ length: channels[color] }, (_, channel) => {
      return (x * 7919 + y * 104_729 + channel * 31_337) % levels;
    });
}

const packetOf = (title: string) =>
  `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:title="${title}"/></rdf:RDF></x:xmpmeta>`;

const to16 = (value: number, depth: Depth) => Math.round((value * 65_535) / (2 ** depth - 1));

function shortsOf(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return bytes;
}

/** Palette colors, all different. */
const colorOf = (index: number) => [(index * 37) % 256, (index * 101) % 256, 255 - index] as const;
const paletteChunk = (depth: Depth) =>
  pngChunk('PLTE', Buffer.from(Array.from({ length: 2 ** depth }, (_, at) => colorOf(at)).flat()));

/** The samples as 16-bit RGBA. */
function expectedPixels(picture: PngSamples, key?: readonly number[]): Uint16Array {
  const pixels: number[] = [];
  for (let y = 0; y < picture.height; y += 1) {
    for (let x = 0; x < picture.width; x += 1) {
      const samples = picture.samplesAt(x, y);
      const isKey = key?.every((value, index) => samples[index] === value) === true;
      pixels.push(...pixelOf(picture, samples), ...(isKey ? [0] : alphaOf(picture, samples)));
    }
  }
  return Uint16Array.from(pixels);
}

function pixelOf({ color, depth }: PngSamples, samples: readonly number[]): number[] {
  if (color === 3) return colorOf(samples[0] ?? 0).map((value) => value * 257);
  const [first = 0, second = 0, third = 0] = samples.map((value) => to16(value, depth));
  return color === 2 || color === 6 ? [first, second, third] : [first, first, first];
}

function alphaOf({ color, depth }: PngSamples, samples: readonly number[]): number[] {
  const alpha = color === 4 ? samples[1] : color === 6 ? samples[3] : undefined;
  return [alpha === undefined ? 65_535 : to16(alpha, depth)];
}

async function seenPixels(bytes: Buffer, depth: Depth): Promise<Uint16Array> {
  const picture = sharp(bytes);
  if (depth < 16) {
    const data = await picture.toColourspace('srgb').ensureAlpha().raw().toBuffer();
    return Uint16Array.from(data, (value) => value * 257);
  }
  const open = picture.toColourspace('rgb16').ensureAlpha();
  const data = await open.raw({ depth: 'ushort' }).toBuffer();
  return new Uint16Array(data.buffer, data.byteOffset, data.length / 2);
}

const types: readonly (readonly [string, Color, readonly Depth[]])[] = [
  ['grey', 0, [1, 2, 4, 8, 16]],
  ['RGB', 2, [8, 16]],
  ['palette', 3, [1, 2, 4, 8]],
  ['grey with alpha', 4, [8, 16]],
  ['RGBA', 6, [8, 16]],
];
const cases = types.flatMap(([name, color, depths]) =>
  depths.flatMap((depth) =>
    (['by rows', 'interlaced'] as const).map((order) => ({ name, color, depth, order })),
  ),
);

describe('a PNG', () => {
  it.each(cases)('of $name, $depth bits, $order, keeps every sample', async (one) => {
    const { color, depth, order } = one;
    const chunks = color === 3 ? [paletteChunk(depth)] : [];
    const samplesAt = samplesOf(color, depth);
    const picture: PngSamples = { ...SIZE, color, depth, order, samplesAt, chunks };
    const upload = printPng(picture);
    const { master, has_alpha, is_lossless, native } = await decoder.ingest(upload, 'image/png');
    expect([has_alpha, is_lossless, native]).toEqual([color >= 4, true, null]);
    expect(await seenPixels(master, depth)).toEqual(expectedPixels(picture));
    const stored = scanImage(master, 'image/png');
    expect(stored.bits_per_channel).toBe(depth === 16 ? 16 : 8);
  });

  it.each([
    ['grey of 1 bit', 0, 1, [1]],
    ['grey of 8 bits', 0, 8, [46]],
    ['grey of 16 bits', 0, 16, [31_337]],
    ['RGB of 8 bits', 2, 8, [0, 105, 210]],
    ['RGB of 16 bits', 2, 16, [0, 31_337, 62_674]],
  ] as const)(
    'is transparent wherever it has its transparent color: %s',
    async (_, color, depth, key) => {
      const base = samplesOf(color, depth);
      // Every fifth pixel has the transparent color.
      const samplesAt = (x: number, y: number) => ((x + y) % 5 === 0 ? key : base(x, y));
      const chunks = [pngChunk('tRNS', shortsOf(key))];
      const picture: PngSamples = { ...SIZE, color, depth, samplesAt, chunks };
      const { master, has_alpha } = await decoder.ingest(printPng(picture), 'image/png');
      expect(has_alpha).toBe(true);
      expect(await seenPixels(master, depth)).toEqual(expectedPixels(picture, key));
    },
  );

  it('with a palette has the transparency of its palette entries', async () => {
    const alphas = [0, 85, 170];
    const samplesAt = samplesOf(3, 2);
    const chunks = [paletteChunk(2), pngChunk('tRNS', Buffer.from(alphas))];
    const picture: PngSamples = { ...SIZE, color: 3, depth: 2, samplesAt, chunks };
    const { master, has_alpha } = await decoder.ingest(printPng(picture), 'image/png');
    expect(has_alpha).toBe(true);
    const expected = expectedPixels(picture).map((value, at) => {
      if (at % 4 !== 3) return value;
      const pixel = Math.floor(at / 4);
      const [index = 0] = samplesAt(pixel % SIZE.width, Math.floor(pixel / SIZE.width));
      return (alphas[index] ?? 255) * 257;
    });
    expect(await seenPixels(master, 2)).toEqual(expected);
  });

  it.each([8, 16] as const)(
    'in gray with alpha, %d bits, has mezzanine images with alpha',
    async (depth) => {
      const half = 2 ** (depth - 1);
      const samplesAt = (x: number) => [half, x < 600 ? 0 : 2 ** depth - 1];
      const upload = printPng({ width: 1200, height: 8, depth, color: 4, samplesAt });
      const { mezzanines } = await decoder.ingest(upload, 'image/png');
      const small = sharp(mezzanines[0]?.bytes).toColourspace('srgb').raw();
      const { data, info } = await small.toBuffer({ resolveWithObject: true });
      expect(info).toMatchObject({ width: 1024, channels: 4 });
      expect([data[3], data[4 * 1000], data[4 * 1000 + 3]]).toEqual([0, 128, 255]);
    },
  );

  it.each([
    ['if it is small enough to be decoded once', 300, 200],
    ['if it is so large that it is decoded for each use', 6400, 6300],
  ])('loses its print density, %s', async (_, width, height) => {
    const grey = sharp(Buffer.alloc(width * height, 70), { raw: { width, height, channels: 1 } });
    const picture = grey.toColourspace('b-w').withDensity(317);
    const upload = await picture.png({ compressionLevel: 1 }).toBuffer();
    expect((await sharp(upload).metadata()).density).toBe(317);
    const { master } = await decoder.ingest(upload, 'image/png');
    expect(master.subarray(0, master.indexOf('IDAT')).includes('pHYs')).toBe(false);
    expect(await sharp(master).metadata()).toMatchObject({ width, height });
    const corner = sharp(master).extract({ left: 0, top: 0, width: 2, height: 1 });
    expect([...(await corner.toColourspace('b-w').raw().toBuffer())]).toEqual([70, 70]);
  });

  it.each([
    ['a bit depth that its color type does not allow', 2, 4],
    ['a palette of 16 bits', 3, 16],
    ['a depth of 3', 0, 3],
    ['an unknown color type', 5, 8],
  ])('is rejected for %s', async (_name, color, depth) => {
    const sound: PngSamples = { ...SIZE, color: 0, depth: 8, samplesAt: samplesOf(0, 8) };
    const upload = printPng(sound);
    upload.set([depth, color], 24);
    expect(await decoder.refusal(upload, 'image/png')).toBe('decode_failed');
  });

  it('loses its text chunks before it is decoded, but keeps its last XMP packet', async () => {
    const picture: PngSamples = { ...SIZE, color: 3, depth: 8, samplesAt: samplesOf(3, 8) };
    const named = (title: string) =>
      pngChunk('iTXt', Buffer.from(`XML:com.adobe.xmp\0\0\0\0\0${packetOf(title)}`));
    const text = (kind: string) => pngChunk(kind, Buffer.from('Comment\0\0some\0words'));
    const texts = [text('tEXt'), named('first'), text('tEXt'), named('second'), text('tEXt')];
    const upload = printPng({ ...picture, chunks: [paletteChunk(8), ...texts] });
    const plain = printPng({ ...picture, chunks: [paletteChunk(8), named('second')] });
    expect(dropTexts(Buffer.from(upload))).toEqual(plain);
    const untouched = Buffer.from(plain);
    expect(dropTexts(untouched)).toBe(untouched);
    const { master, metadata } = await decoder.ingest(upload, 'image/png');
    expect(master).toEqual((await decoder.ingest(plain, 'image/png')).master);
    expect(metadata.xmp?.toString()).toContain('second');
    // The image library reads the same packet on its own.
    expect((await sharp(upload).metadata()).xmp?.toString()).toContain('second');
  });

  it.each(['tEXt', 'zTXt'])(
    'keeps XMP from a %s chunk, where few readers look for it',
    async (kind) => {
      const packet = Buffer.from(packetOf('odd'));
      const name = 'XML:com.adobe.xmp\0';
      const body = kind === 'tEXt' ? packet : Buffer.concat([Buffer.alloc(1), deflateSync(packet)]);
      const picture: PngSamples = { ...SIZE, color: 0, depth: 8, samplesAt: samplesOf(0, 8) };
      const chunk = pngChunk(kind, Buffer.concat([Buffer.from(name), body]));
      const { metadata } = await decoder.ingest(
        printPng({ ...picture, chunks: [chunk] }),
        'image/png',
      );
      expect(metadata.xmp?.toString()).toContain('odd');
    },
  );

  it('is rejected without its palette, and decoded as opaque if its palette is too short', async () => {
    const picture: PngSamples = { ...SIZE, color: 3, depth: 8, samplesAt: samplesOf(3, 8) };
    expect(await decoder.refusal(printPng(picture), 'image/png')).toBe('decode_failed');
    const short = printPng({ ...picture, chunks: [paletteChunk(2)] });
    const { master, has_alpha } = await decoder.ingest(short, 'image/png');
    expect([has_alpha, (await sharp(master).stats()).isOpaque]).toEqual([false, true]);
  });
});
