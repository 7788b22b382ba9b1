import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { IngestRefusal } from '../../../../runtime/worker/ingest/ingest-refusal.ts';
import { readCapture } from '../../../../runtime/worker/ingest/metadata/capture.ts';
import { judgeIccProfile } from '../../../../runtime/worker/ingest/metadata/icc-profile.ts';
import { type HeaderFacts, scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import {
  animatedPng,
  animatedWebp,
  cameraJpeg,
  cutOut,
  deepPng,
  drawing,
  over,
  photograph,
} from '../../../support/pictures.ts';

const files: { type: string; bytes: Buffer }[] = [];

beforeAll(async () => {
  const picture = photograph(90, 60);
  files.push(
    { type: 'image/jpeg', bytes: await over(picture).jpeg().toBuffer() },
    { type: 'image/jpeg', bytes: await over(picture).jpeg({ progressive: true }).toBuffer() },
    { type: 'image/jpeg', bytes: await cameraJpeg(picture, 6) },
    { type: 'image/png', bytes: await over(picture).png().toBuffer() },
    { type: 'image/png', bytes: await over(drawing(90, 60)).png({ palette: true }).toBuffer() },
    { type: 'image/png', bytes: animatedPng(await over(picture).png().toBuffer()) },
    { type: 'image/png', bytes: await deepPng(40, 30) },
    { type: 'image/webp', bytes: await over(picture).webp().toBuffer() },
    { type: 'image/webp', bytes: await over(cutOut(90, 60)).webp().toBuffer() },
    { type: 'image/webp', bytes: await over(picture).webp({ lossless: true }).toBuffer() },
    { type: 'image/webp', bytes: await animatedWebp(40, 30) },
  );
});

describe('the header scan', () => {
  it('reads dimensions, depth, alpha, losslessness and quality of a file, and refuses animations', async () => {
    const plain = { width: 90, height: 60, frames: 1, is_palette: false };
    const expected = [
      { ...plain, bits_per_channel: 8, has_alpha: false, is_lossless: false, chroma: '4:2:0' },
      { ...plain, bits_per_channel: 8, has_alpha: false, is_lossless: false, quality: 80 },
      { ...plain, chroma: '4:4:4', quality: 90 },
      { ...plain, bits_per_channel: 8, has_alpha: false, is_lossless: true, quality: null },
      { ...plain, is_palette: true, is_lossless: true },
      { code: 'animated_not_supported' },
      { width: 40, height: 30, bits_per_channel: 16 },
      { ...plain, has_alpha: false, is_lossless: false },
      { ...plain, has_alpha: true, is_lossless: false },
      { ...plain, has_alpha: false, is_lossless: true },
      { code: 'animated_not_supported' },
    ];
    expect(files).toHaveLength(expected.length);
    for (const [index, { bytes, type }] of files.entries())
      expect(factsOrRefusal(bytes, type), `file ${index}`).toMatchObject(expected[index] ?? {});
  });

  it.each([75, 80, 85, 90, 95])(
    'recognizes that a lossy WebP was encoded with a quality of about %d',
    async (quality) => {
      const bytes = await over(photograph(400, 300)).webp({ quality }).toBuffer();
      const seen = scanImage(bytes, 'image/webp').quality ?? 0;
      expect(Math.abs(seen - quality)).toBeLessThanOrEqual(6);
    },
  );

  it('answers damaged headers with facts or a refusal', () => {
    const changes = fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        to: fc.integer({ min: 0, max: 255 }),
      }),
      { minLength: 1, maxLength: 6 },
    );
    const file = fc.integer({ min: 0, max: 10 });
    const near = fc.constantFrom(60, 300, 3000);
    fc.assert(
      fc.property(file, changes, near, (index, list, reach) => {
        const { type, bytes } = files[index] ?? expect.fail('no such file');
        const damaged = Buffer.from(bytes);
        for (const { at, to } of list)
          damaged[Math.floor(at * Math.min(reach, bytes.length - 1))] = to;
        expectFactsOrRefusal(damaged, type);
      }),
      { numRuns: 2000 },
    );
  });

  it('answers every prefix of a file with facts or a refusal', () => {
    for (const { type, bytes } of files) {
      for (let length = 0; length < Math.min(bytes.length, 700); length += 1) {
        expectFactsOrRefusal(bytes.subarray(0, length), type);
      }
    }
  });
});

function factsOrRefusal(bytes: Buffer, type: string): HeaderFacts | IngestRefusal {
  try {
    return scanImage(bytes, type);
  } catch (error) {
    if (error instanceof IngestRefusal) return error;
    throw error;
  }
}

function expectFactsOrRefusal(bytes: Buffer, type: string): void {
  const seen = factsOrRefusal(bytes, type);
  if (!(seen instanceof IngestRefusal)) expect(seen.width * seen.height).toBeGreaterThan(0);
}

describe('a color profile', () => {
  const profileOf = async (name: string) => {
    const picture = over(photograph(8, 8)).withIccProfile(name);
    const space = name === 'cmyk' ? picture.toColourspace('cmyk') : picture;
    return (await sharp(await space.jpeg().toBuffer()).metadata()).icc ?? Buffer.alloc(0);
  };

  it('is judged as sRGB, other or broken by its contents', async () => {
    expect(judgeIccProfile(await profileOf('srgb'), 'rgb')).toBe('srgb');
    expect(judgeIccProfile(await profileOf('p3'), 'rgb')).toBe('other');
    expect(judgeIccProfile(await profileOf('cmyk'), 'cmyk')).toBe('other');
    expect(judgeIccProfile(await profileOf('cmyk'), 'rgb')).toBe('broken');
  });

  it('is never taken for sRGB if it is truncated, and is broken if it is no profile', async () => {
    const whole = await profileOf('srgb');
    for (let length = 0; length < whole.length - 1; length += 7) {
      expect(judgeIccProfile(whole.subarray(0, length), 'rgb'), `${length}`).not.toBe('srgb');
    }
    expect(judgeIccProfile(readFileSync(new URL(import.meta.url)), 'rgb')).toBe('broken');
  });
});

describe('the EXIF reader', () => {
  it('never throws, whatever the block holds', async () => {
    const exif =
      (await sharp(await cameraJpeg(photograph(8, 8))).metadata()).exif ?? Buffer.alloc(0);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(exif.length - 1), fc.integer({ min: 0, max: 255 })), {
          maxLength: 5,
        }),
        fc.nat(exif.length),
        (changes, length) => {
          const damaged = Buffer.from(exif.subarray(0, length));
          for (const [at, to] of changes) if (at < damaged.length) damaged[at] = to;
          const { location } = readCapture({ exif: damaged });
          if (location !== null) expect(Math.abs(location.latitude)).toBeLessThanOrEqual(90);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
