// Colors that a file describes by numbers are converted to sRGB: AVIF's nclx, and PNG's cICP, gAMA and cHRM. Expected
// values are computed from the matrices of CSS Color 4. Spec: What the service does.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeCodes } from '../../../../runtime/worker/ingest/colors/color-description.ts';
import { printProfile } from '../../../../runtime/worker/ingest/colors/print-profile.ts';
import { judgeIccProfile } from '../../../../runtime/worker/ingest/metadata/icc-profile.ts';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { useDecoder } from '../../../support/decoder.ts';
import {
  type Color,
  colorOf,
  decode,
  expected,
  expectNear,
  FROM_2020,
  FROM_P3,
  flat,
  MUTED,
  SAME,
  SIDE,
} from '../../../support/described-colors.ts';
import { over, photograph, pngChunk } from '../../../support/pictures.ts';

const decoder = useDecoder();
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-described-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function avif(color: Color, cicp: string, depth = '8'): Promise<Buffer> {
  const [from, to] = [join(folder, 'from.png'), join(folder, 'to.avif')];
  await writeFile(from, await flat(color));
  const words = ['--cicp', cicp, '-d', depth, '-y', '444', '--min', '0', '--max', '0', '-s', '9'];
  await promisify(execFile)('avifenc', [...words, from, to]);
  return readFile(to);
}

describe('an AVIF with color code points and no ICC profile', () => {
  it.each([
    ['BT.709 and sRGB', '1/13/6', SAME, decode],
    ['BT.709 with the transfer function of television, as sRGB', '1/1/1', SAME, decode],
    ['unspecified code points', '2/2/2', SAME, decode],
    ['Display P3', '12/13/6', FROM_P3, decode],
    ['BT.2020', '9/14/9', FROM_2020, decode],
    ['linear light', '1/8/6', SAME, (value: number) => value],
    ['a gamma of 2.8', '1/5/6', SAME, (value: number) => value ** 2.8],
  ])('is stored as sRGB: %s', async (_name, cicp, matrix, light) => {
    for (const color of MUTED) {
      const { master, native, metadata } = await decoder.ingest(
        await avif(color, cicp),
        'image/avif',
      );
      expectNear(await colorOf(master), expected(color, matrix, light));
      expect([native, metadata]).toEqual([null, {}]);
      expect(scanImage(master, 'image/avif').colors).toBeUndefined();
    }
  });

  it.each([
    ['Display P3', '12/13/6', '8', FROM_P3],
    ['Display P3 of 10 bits', '12/13/6', '10', FROM_P3],
    ['Display P3 of 12 bits', '12/13/6', '12', FROM_P3],
    ['BT.2020', '9/14/9', '8', FROM_2020],
    ['sRGB', '1/13/6', '8', SAME],
  ])(
    'is converted if the code points are in the bitstream but not in the container: %s',
    async (_name, cicp, depth, matrix) => {
      for (const color of MUTED) {
        const upload = await avif(color, cicp, depth);
        // Readers ignore unknown properties, so renaming the box hides it.
        upload.write('free', upload.indexOf('colrnclx'), 'latin1');
        const { master } = await decoder.ingest(upload, 'image/avif');
        expectNear(await colorOf(master), expected(color, matrix));
      }
    },
  );

  it.each([
    [9, 16],
    [9, 18],
  ])('looks the same if its HDR code points %i/%i are only in the bitstream', async (...codes) => {
    const upload = await avif([200, 190, 170], `${codes.join('/')}/9`, '10');
    const bare = Buffer.from(upload);
    bare.write('free', bare.indexOf('colrnclx'), 'latin1');
    const seen = await Promise.all(
      [upload, bare].map(async (one) => colorOf((await decoder.ingest(one, 'image/avif')).master)),
    );
    expectNear(seen[1] ?? [], seen[0] ?? []);
    expect(scanImage(bare, 'image/avif').colors).toEqual(describeCodes(...codes));
  });

  it('keeps a depth of 10 bits', async () => {
    const deep = await decoder.ingest(await avif([150, 120, 100], '12/13/6', '10'), 'image/avif');
    expect((await sharp(deep.master).metadata()).bitsPerSample).toBe(10);
    expectNear(await colorOf(deep.master), expected([150, 120, 100], FROM_P3));
  });

  it.each(['9/16/9', '9/18/9'])(
    'with HDR colors (%s) is mapped to the range of a standard display',
    async (cicp) => {
      const greys = [0, 40, 80, 120, 160, 200, 255];
      const seen: number[] = [];
      for (const grey of greys) {
        const upload = await avif([grey, grey, grey], cicp, '10');
        const [red = 0, green = 0, blue = 0] = await colorOf(
          (await decoder.ingest(upload, 'image/avif')).master,
        );
        expect(Math.max(red, green, blue) - Math.min(red, green, blue)).toBeLessThanOrEqual(3);
        seen.push(green);
      }
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      expect([seen[0], (seen.at(-1) ?? 0) > 250]).toEqual([0, true]);
      // The signal level of paper white: 58 % for PQ, 75 % for HLG.
      const paper = cicp === '9/16/9' ? 148 : 191;
      const { master } = await decoder.ingest(
        await avif([paper, paper, paper], cicp, '10'),
        'image/avif',
      );
      const [white = 0] = await colorOf(master);
      expect(white).toBeGreaterThan(235);
      expect(white).toBeLessThan(253);
    },
  );
});

describe('a PNG with gAMA, cHRM or cICP chunks', () => {
  const HEADER_END = 33;
  const numbers = (...values: number[]) => {
    const body = Buffer.alloc(values.length * 4);
    for (const [index, value] of values.entries()) body.writeUInt32BE(value, index * 4);
    return body;
  };
  const gamma = (value: number) => pngChunk('gAMA', numbers(value));
  const SRGB_POINTS = [31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000];
  const P3_POINTS = [31270, 32900, 68000, 32000, 26500, 69000, 15000, 6000];
  const points = (values: number[]) => pngChunk('cHRM', numbers(...values));
  const codes = (...values: number[]) => pngChunk('cICP', Buffer.from([...values, 0, 1]));
  const withChunks = (png: Buffer, ...chunks: Buffer[]) =>
    Buffer.concat([png.subarray(0, HEADER_END), ...chunks, png.subarray(HEADER_END)]);

  it.each([
    ['linear light', [gamma(100_000)], SAME, (value: number) => value],
    ['a gamma of 1.8', [gamma(55_556)], SAME, (value: number) => value ** 1.8],
    ['P3 points', [points(P3_POINTS)], FROM_P3, decode],
    [
      'a gamma and chromaticities',
      [gamma(45_455), points(P3_POINTS)],
      FROM_P3,
      (v: number) => v ** 2.2,
    ],
    ['code points of P3', [codes(12, 13)], FROM_P3, decode],
    ['code points, which override a gamma', [codes(12, 13), gamma(100_000)], FROM_P3, decode],
  ] as const)(
    'is stored as sRGB, and also keeps its original pixels: %s',
    async (_, chunks, matrix, light) => {
      for (const color of MUTED) {
        const upload = withChunks(await flat(color), ...chunks);
        const { master, native, metadata } = await decoder.ingest(upload, 'image/png');
        expectNear(await colorOf(master), expected(color, matrix as number[][], light), 2);
        expect(await colorOf(native ?? master)).toEqual(color);
        expect(judgeIccProfile(metadata.icc ?? Buffer.alloc(0), 'rgb')).toBe('other');
      }
    },
  );

  it.each([
    ['the gamma of sRGB', [gamma(45_455)]],
    ['the gamma and chromaticities of sRGB', [gamma(45_455), points(SRGB_POINTS)]],
    ['an sRGB chunk, whatever others say', [pngChunk('sRGB', Buffer.from([0])), gamma(100_000)]],
    ['code points of sRGB', [codes(1, 13)]],
    ['a gamma of zero', [gamma(0)]],
    ['chromaticities of zero', [points([0, 0, 0, 0, 0, 0, 0, 0])]],
    ['a truncated gamma', [pngChunk('gAMA', Buffer.from([0, 1, 2]))]],
    ['a gamma that is too long', [pngChunk('gAMA', Buffer.from([0, 1, 0x86, 0xa0, 0]))]],
    ['truncated chromaticities', [pngChunk('cHRM', Buffer.alloc(31, 1))]],
    ['truncated code points', [pngChunk('cICP', Buffer.from([12]))]],
    [
      'chromaticities on a line',
      [points([31270, 32900, 10000, 10000, 20000, 20000, 30000, 30000])],
    ],
  ])('keeps every pixel unchanged: %s', async (_name, chunks) => {
    const picture = photograph(60, 40);
    const upload = withChunks(await over(picture).png().toBuffer(), ...chunks);
    const { master, native, metadata } = await decoder.ingest(upload, 'image/png');
    expect((await sharp(master).raw().toBuffer()).equals(picture.data)).toBe(true);
    expect([native, metadata]).toEqual([null, {}]);
  });

  it('stays gray when its tones are converted', async () => {
    const grey = await sharp(await flat([100, 100, 100]))
      .toColourspace('b-w')
      .png()
      .toBuffer();
    const { master } = await decoder.ingest(withChunks(grey, gamma(100_000)), 'image/png');
    expect((await sharp(master).metadata()).channels).toBe(1);
    expectNear(
      await colorOf(master),
      expected([100, 100, 100], SAME, (value) => value),
      2,
    );
  });

  it.each([1, 3] as const)(
    'is converted at 16 bits per sample (channels: %d)',
    async (channels) => {
      const values = [30_000, 25_000, 20_000].slice(-channels);
      const samples = Uint16Array.from({ length: SIDE * SIDE * channels }, (_, index) => {
        return values[index % channels] ?? 0;
      });
      const deep = await sharp(samples, { raw: { width: SIDE, height: SIDE, channels } })
        .toColourspace(channels === 1 ? 'grey16' : 'rgb16')
        .png()
        .toBuffer();
      const upload = withChunks(deep, gamma(100_000));
      const { master, native } = await decoder.ingest(upload, 'image/png');
      expect(await sharp(master).metadata()).toMatchObject({ depth: 'ushort', channels });
      const color = (channels === 1 ? [0, 0, 0] : [0, 1, 2]).map((at) => (values[at] ?? 0) / 257);
      const [r = 0, g = 0, b = 0] = color;
      expectNear(
        await colorOf(master),
        expected([r, g, b], SAME, (value) => value),
        2,
      );
      const kept = await sharp(native ?? master)
        .toColourspace(channels === 1 ? 'grey16' : 'rgb16')
        .raw({ depth: 'ushort' })
        .toBuffer();
      expect(kept.readUInt16LE(0)).toBe(values[0]);
    },
  );

  it('ignores a gAMA chunk if it has an ICC profile', async () => {
    const upload = await over(photograph(40, 30)).withIccProfile('srgb').png().toBuffer();
    const plain = await decoder.ingest(upload, 'image/png');
    const described = await decoder.ingest(withChunks(upload, gamma(100_000)), 'image/png');
    expect(described.master.equals(plain.master)).toBe(true);
  });
});

it('a profile made for arbitrary color code points is never broken', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65_535 }), fc.nat(30), (primaries, transfer) => {
      const profile = printProfile(describeCodes(primaries, transfer), 'rgb');
      expect(profile && judgeIccProfile(profile, 'rgb')).not.toBe('broken');
    }),
    { numRuns: 300 },
  );
});
