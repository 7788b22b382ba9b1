// Variants of TIFF, AVIF, GIF and WebP, written by the formats' own tools (libtiff, libavif). Spec: What the service
// does; Processing error codes.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { useDecoder } from '../../../support/decoder.ts';
import {
  animatedWebp,
  cutOut,
  drawing,
  over,
  photograph,
  psnr,
} from '../../../support/pictures.ts';
import { printTiff } from '../../../support/tiff.ts';

const run = promisify(execFile);
const decoder = useDecoder();
const photo = photograph(97, 61);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-variants-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function through(command: string, words: readonly string[], bytes: Buffer, to: string) {
  const [source, target] = [join(folder, 'source'), join(folder, to)];
  const from = `${source}.${command === 'avifenc' ? 'png' : 'tif'}`;
  await writeFile(from, bytes);
  await run(command, [...words, from, target]);
  return readFile(target);
}

const rgba = (bytes: Buffer) => sharp(bytes).toColourspace('srgb').ensureAlpha().raw().toBuffer();

describe('a TIFF, as libtiff writes it', () => {
  const plain = (samples: 1 | 3 = 3) => {
    const strips = [samples === 3 ? photo.data : photo.data.subarray(0, 97 * 61)];
    return printTiff([{ width: 97, height: 61, samples, strips }]);
  };
  const tiffcp = (words: readonly string[], bytes = plain()) =>
    through('tiffcp', words, bytes, 'out.tif');

  it.each([
    ['strips', ['-c', 'none', '-r', '7']],
    ['one strip', ['-c', 'none', '-r', '61']],
    ['tiles', ['-c', 'none', '-t', '-w', '32', '-l', '16']],
    ['LZW', ['-c', 'lzw']],
    ['LZW with a predictor', ['-c', 'lzw:2']],
    ['tiles with LZW', ['-c', 'lzw:2', '-t', '-w', '16', '-l', '16']],
    ['deflate', ['-c', 'zip']],
    ['deflate with a predictor', ['-c', 'zip:2']],
    ['PackBits', ['-c', 'packbits']],
    ['separate planes', ['-c', 'none', '-p', 'separate']],
    ['separate planes with LZW', ['-c', 'lzw', '-p', 'separate']],
    ['BigTIFF', ['-8', '-c', 'lzw']],
    ['big-endian', ['-B', '-c', 'lzw']],
    ['big-endian BigTIFF in tiles', ['-B', '-8', '-c', 'zip', '-t', '-w', '48', '-l', '16']],
    ['lowest bit first', ['-f', 'lsb2msb', '-c', 'lzw']],
  ])('keeps every pixel: %s', async (_name, words) => {
    const { master } = await decoder.ingest(await tiffcp(words), 'image/tiff');
    expect((await sharp(master).raw().toBuffer()).equals(photo.data)).toBe(true);
  });

  it.each([
    ['strips', ['-c', 'jpeg:95', '-r', '16']],
    ['tiles', ['-c', 'jpeg:95', '-t', '-w', '32', '-l', '32']],
    ['RGB strips', ['-c', 'jpeg:r:95', '-r', '16']],
  ])('with JPEG compression in %s keeps its quality', async (_name, words) => {
    const { master } = await decoder.ingest(await tiffcp(words), 'image/tiff');
    expect(psnr(await sharp(master).raw().toBuffer(), photo.data)).toBeGreaterThan(30);
  });

  it.each(['g3', 'g3:2d', 'g4'])('with fax compression (%s) keeps every pixel', async (coding) => {
    const bits = await over(drawing(96, 64))
      .toColourspace('b-w')
      .tiff({ bitdepth: 1, compression: 'none' })
      .toBuffer();
    const upload = await tiffcp(['-c', coding], bits);
    const { master } = await decoder.ingest(upload, 'image/tiff');
    expect((await rgba(master)).equals(await rgba(bits))).toBe(true);
  });

  it.each([8, 16] as const)('in gray with alpha, %d bits, keeps both channels', async (bits) => {
    const [width, height] = [40, 30];
    const samples = Buffer.from(
      Array.from({ length: width * height * 2 }, (_, at) => (at * 7) % 256),
    );
    const strips = [
      bits === 8 ? samples : Buffer.from([...samples].flatMap((value) => [value, value])),
    ];
    const tags = { 258: [bits, bits], 338: [2] };
    const upload = printTiff([{ width, height, samples: 2, strips, tags }]);
    const { master, has_alpha } = await decoder.ingest(upload, 'image/tiff');
    expect(has_alpha).toBe(true);
    const expected = [...Array(width * height).keys()].flatMap((at) => {
      const grey = samples[at * 2] ?? 0;
      return [grey, grey, grey, samples[at * 2 + 1] ?? 0];
    });
    expect([...(await rgba(master))]).toEqual(expected);
  });

  it('with two pages is rejected with animated_not_supported', async () => {
    const [one, two] = [join(folder, 'one.tif'), join(folder, 'two.tif')];
    await writeFile(one, plain());
    await run('tiffcp', [one, one, two]);
    expect(await decoder.refusal(await readFile(two), 'image/tiff')).toBe('animated_not_supported');
  });
});

describe('an AVIF, as libavif writes it', () => {
  const avifenc = async (words: readonly string[], picture = over(photo)) =>
    through('avifenc', [...words, '-s', '9'], await picture.png().toBuffer(), 'out.avif');

  it.each([
    ['4:4:4', ['-y', '444'], 8],
    ['4:2:2', ['-y', '422'], 8],
    ['4:2:0', ['-y', '420'], 8],
    ['10 bits', ['-d', '10'], 10],
    ['12 bits', ['-d', '12'], 12],
    ['limited range', ['-r', 'limited'], 8],
    ['lossless', ['--lossless'], 8],
  ] as const)('keeps its quality and bit depth: %s', async (_name, words, bits) => {
    const upload = await avifenc(['--min', '0', '--max', '10', ...words]);
    expect(scanImage(upload, 'image/avif').bits_per_channel).toBe(bits);
    const { master } = await decoder.ingest(upload, 'image/avif');
    expect(psnr(await rgba(master), await rgba(upload))).toBeGreaterThan(38);
    expect((await sharp(master).metadata()).bitsPerSample).toBe(bits);
  });

  it('in grayscale looks the same once stored', async () => {
    const upload = await avifenc(['-y', '400', '--min', '0', '--max', '10']);
    const { master } = await decoder.ingest(upload, 'image/avif');
    expect(psnr(await rgba(master), await rgba(upload))).toBeGreaterThan(38);
  });

  it.each([
    ['alpha', []],
    ['premultiplied alpha', ['-p']],
    ['premultiplied alpha and 10 bits', ['-p', '-d', '10']],
    ['premultiplied alpha and 12 bits', ['-p', '-d', '12']],
  ])('with %s looks as another decoder shows it', async (_name, words) => {
    const best = ['-y', '444', '--min', '0', '--max', '0', '--minalpha', '0', '--maxalpha', '0'];
    const upload = await avifenc([...best, ...words], over(cutOut(80, 80)));
    expect(upload.includes('prem')).toBe(words.includes('-p'));
    const shown = await through('avifdec', ['-d', '8'], upload, 'shown.png');
    const { master, has_alpha } = await decoder.ingest(upload, 'image/avif');
    expect(has_alpha).toBe(true);
    for (const background of ['#fff', '#000']) {
      const on = (bytes: Buffer) => sharp(bytes).flatten({ background }).raw().toBuffer();
      expect(psnr(await on(master), await on(shown)), background).toBeGreaterThan(34);
    }
  });

  it('with a grid of tiles is assembled into one image', async () => {
    const picture = photograph(256, 192);
    const png = await over(picture).png().toBuffer();
    const tiles = await Promise.all(
      [0, 1, 2, 3].map(async (index) => {
        const area = {
          left: (index % 2) * 128,
          top: Math.floor(index / 2) * 96,
          width: 128,
          height: 96,
        };
        const file = join(folder, `tile${index}.png`);
        await writeFile(file, await sharp(png).extract(area).png().toBuffer());
        return file;
      }),
    );
    const target = join(folder, 'grid.avif');
    await run('avifenc', [
      '--grid',
      '2x2',
      '--min',
      '0',
      '--max',
      '10',
      '-s',
      '9',
      ...tiles,
      target,
    ]);
    const result = await decoder.ingest(await readFile(target), 'image/avif');
    expect(result).toMatchObject({ width: 256, height: 192 });
    expect(psnr(await sharp(result.master).raw().toBuffer(), picture.data)).toBeGreaterThan(34);
  });

  it.each([
    ['a quarter to the left', ['--irot', '1'], 270],
    ['half', ['--irot', '2'], 180],
    ['a quarter to the right', ['--irot', '3'], 90],
  ] as const)('turned by %s is stored upright', async (_name, words, angle) => {
    const upload = await avifenc(['--min', '0', '--max', '4', '-y', '444', ...words]);
    const { master } = await decoder.ingest(upload, 'image/avif');
    const expected = await over(photo).rotate(angle).raw().toBuffer();
    expect(psnr(await sharp(master).raw().toBuffer(), expected)).toBeGreaterThan(34);
    expect(master.includes('irot')).toBe(false);
  });

  it.each([
    ['0', (picture: Sharp) => picture.flip()],
    ['1', (picture: Sharp) => picture.flop()],
  ] as const)('mirrored along axis %s is stored as it is seen', async (axis, mirror) => {
    const upload = await avifenc(['--min', '0', '--max', '4', '-y', '444', '--imir', axis]);
    const { master } = await decoder.ingest(upload, 'image/avif');
    const expected = await mirror(over(photo)).raw().toBuffer();
    expect(psnr(await sharp(master).raw().toBuffer(), expected)).toBeGreaterThan(34);
  });

  it('with an image sequence is rejected with animated_not_supported', async () => {
    const frames = [join(folder, 'frame1.png'), join(folder, 'frame2.png')];
    for (const [index, file] of frames.entries()) {
      await writeFile(
        file,
        await over(photograph(64, 48, index))
          .png()
          .toBuffer(),
      );
    }
    const target = join(folder, 'sequence.avif');
    await run('avifenc', ['-s', '9', ...frames, target]);
    expect(await decoder.refusal(await readFile(target), 'image/avif')).toBe(
      'animated_not_supported',
    );
  });
});

it.each([false, true])('a GIF keeps every pixel, interlaced: %s', async (progressive) => {
  const upload = await over(drawing(123, 77)).gif({ progressive }).toBuffer();
  const { master } = await decoder.ingest(upload, 'image/gif');
  expect((await rgba(master)).equals(await rgba(upload))).toBe(true);
});

it('an animated WebP is rejected with animated_not_supported', async () => {
  expect(await decoder.refusal(await animatedWebp(50, 40), 'image/webp')).toBe(
    'animated_not_supported',
  );
});
