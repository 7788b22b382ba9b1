// TIFF layouts that the image library does not support are rearranged without loss: planar tiles, and 16-bit palettes.
// Spec: What the service does; Processing error codes.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import { cutOut, deepPng, over, photograph } from '../../../support/pictures.ts';
import { printTiff, type TiffOptions, type TiffPage } from '../../../support/tiff.ts';

const TIFF = 'image/tiff';
const run = promisify(execFile);
const decoder = useDecoder();
const photo = photograph(97, 61);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-planes-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function tiffcp(words: readonly string[], bytes: Buffer): Promise<Buffer> {
  const [source, target] = [join(folder, 'source.tif'), join(folder, 'target.tif')];
  await writeFile(source, bytes);
  await run('tiffcp', [...words, source, target]);
  return readFile(target);
}

const inTiles = (words: readonly string[], bytes: Buffer) =>
  tiffcp([...words, '-p', 'separate', '-t', '-w', '32', '-l', '48'], bytes);

describe('a TIFF with separate planes in tiles', () => {
  const plain = printTiff([{ width: 97, height: 61, samples: 3, strips: [photo.data] }]);
  const uploads: Readonly<Record<string, () => Promise<Buffer> | Buffer>> = {
    'of 8 bits': () => plain,
    'of 16 bits': async () =>
      sharp(await deepPng(97, 61))
        .toColourspace('rgb16')
        .tiff()
        .toBuffer(),
    'with alpha': () => over(cutOut(97, 61)).tiff({ compression: 'deflate' }).toBuffer(),
    'of inks': () => over(photo).toColourspace('cmyk').withIccProfile('cmyk').tiff().toBuffer(),
    'of another profile, turned, with a place': () =>
      over(photo)
        .withIccProfile('p3')
        .withExif({ IFD0: { Artist: 'Ada' }, IFD2: { DateTimeOriginal: '2024:05:06 07:08:09' } })
        .withMetadata({ orientation: 6 })
        .tiff()
        .toBuffer(),
    'whose colors were multiplied by their transparency': () =>
      printTiff([
        {
          width: 2,
          height: 1,
          samples: 4,
          strips: [Buffer.from([100, 50, 25, 128, 9, 8, 7, 255])],
          tags: { 338: [1] },
        },
      ]),
  };

  it.each(Object.entries(uploads))(
    'gives the same result as one without: %s',
    async (_name, make) => {
      const upload = Buffer.from(await make());
      for (const words of [
        ['-c', 'none'],
        ['-c', 'lzw:2', '-B'],
        ['-8', '-c', 'zip:2'],
      ]) {
        const whole = await tiffcp([...words, '-p', 'contig'], upload);
        const result = await decoder.ingest(await inTiles(words, upload), TIFF);
        expect(result, words.join(' ')).toEqual(await decoder.ingest(whole, TIFF));
      }
    },
  );

  it('with JPEG compression keeps its quality', async () => {
    const upload = await inTiles(['-c', 'jpeg:r:95'], plain);
    const result = await decoder.ingest(upload, TIFF);
    expect(result).toMatchObject({ is_lossless: false, width: 97, height: 61 });
    const seen = await sharp(result.master).raw().toBuffer();
    const off = seen.map((value, at) => Math.abs(value - (photo.data[at] ?? 0)));
    expect(off.reduce((sum, value) => sum + value, 0) / off.length).toBeLessThan(4);
  });

  it('is rejected with decode_failed if tiles are missing or too small', async () => {
    const upload = await inTiles(['-c', 'none'], plain);
    const at = (tag: number) => entryOf(upload, tag);
    const fewer = Buffer.from(upload);
    fewer.writeUInt32LE(23, at(324) + 4);
    const small = Buffer.from(upload);
    small.writeUInt16LE(8, at(322) + 8);
    expect(await decoder.refusal(fewer, TIFF)).toBe('decode_failed');
    expect(await decoder.refusal(small, TIFF)).toBe('decode_failed');
  });
});

/** The offset of a tag in the first directory of a classic little-endian TIFF. */
function entryOf(file: Buffer, tag: number): number {
  const start = file.readUInt32LE(4) + 2;
  const count = file.readUInt16LE(start - 2);
  const index = Array.from({ length: count }, (_, at) => file.readUInt16LE(start + at * 12));
  return start + index.indexOf(tag) * 12;
}

describe('a palette TIFF', () => {
  /** An image with each palette color twice, whose rows end within a byte. */
  const paletted = (bits: 1 | 2 | 4 | 8, colorOf: (index: number, channel: number) => number) => {
    const colors = 2 ** bits;
    const width = Math.min(colors, 16) + 1;
    const height = Math.ceil((colors * 2) / width);
    const indices = Array.from({ length: width * height }, (_, at) => at % colors);
    const palette = [0, 1, 2].flatMap((channel) =>
      Array.from({ length: colors }, (_, index) => colorOf(index, channel)),
    );
    const rows = Array.from({ length: height }, (_, y) =>
      packed(indices.slice(y * width, (y + 1) * width), bits),
    );
    const tags = { 258: [bits], 262: [3], 320: palette };
    const page: TiffPage = { width, height, samples: 1, strips: [Buffer.concat(rows)], tags };
    const samples = indices.flatMap((index) => [0, 1, 2].map((c) => colorOf(index, c)));
    return { page, samples };
  };
  const fine = (index: number, channel: number) => (index * 911 + channel * 20_011 + 77) % 65_536;
  const deep = (bytes: Buffer) =>
    sharp(bytes).toColourspace('rgb16').raw({ depth: 'ushort' }).toBuffer();

  it.each([1, 2, 4, 8] as const)('with %d-bit indices keeps 16-bit colors', async (bits) => {
    const { page, samples } = paletted(bits, fine);
    for (const options of [{}, { order: 'MM' }, { isBig: true }] satisfies TiffOptions[]) {
      const { master } = await decoder.ingest(printTiff([page], options), TIFF);
      expect((await sharp(master).metadata()).depth).toBe('ushort');
      const data = await deep(master);
      expect([...new Uint16Array(data.buffer, data.byteOffset, samples.length)]).toEqual(samples);
    }
  });

  it('in compressed tiles keeps 16-bit colors', async () => {
    const { page } = paletted(8, fine);
    const upload = printTiff([page]);
    const tiled = await tiffcp(['-c', 'lzw:2', '-t', '-w', '16', '-l', '16'], upload);
    const [one, other] = [await decoder.ingest(upload, TIFF), await decoder.ingest(tiled, TIFF)];
    expect(other.master.equals(one.master)).toBe(true);
  });

  it.each([
    ['as 257 times of them', 257],
    ['shifted', 256],
    ['as they are', 1],
  ])('with 8-bit colors, written %s, stays at 8 bits', async (_name, times) => {
    const eight = (index: number, channel: number) => (index * 7 + channel * 50) % 256;
    const { page } = paletted(8, (index, channel) => eight(index, channel) * times);
    const { samples } = paletted(8, eight);
    const { master } = await decoder.ingest(printTiff([page]), TIFF);
    expect((await sharp(master).metadata()).depth).toBe('uchar');
    expect([...(await sharp(master).raw().toBuffer())]).toEqual(samples);
  });

  it('is rejected with decode_failed if a pixel has an index outside the palette', async () => {
    const { page } = paletted(8, fine);
    const short = { ...page, tags: { ...page.tags, 320: [1, 2, 3, 4, 5, 777] } };
    expect(await decoder.refusal(printTiff([short]), TIFF)).toBe('decode_failed');
  });
});

function packed(values: readonly number[], bits: number): Buffer {
  const text = values.map((value) => value.toString(2).padStart(bits, '0')).join('');
  const bytes = text.match(/.{1,8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
}
