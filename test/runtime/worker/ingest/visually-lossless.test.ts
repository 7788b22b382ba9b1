// Stored images look like their uploads: identical pixels for lossless formats, otherwise a structural similarity of at
// least 0.98, also for half-way images. Spec: What the service does.
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import { cutOut, drawing, over, type Picture, photograph } from '../../../support/pictures.ts';
import { type Samples, ssim } from '../../../support/ssim.ts';

const SSIM_MIN = 0.98;
const decoder = useDecoder();

async function samplesOf(bytes: Buffer): Promise<Samples> {
  const picture = sharp(bytes).toColourspace('srgb').ensureAlpha();
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

async function likeness(one: Buffer, other: Buffer): Promise<number> {
  return ssim(await samplesOf(one), await samplesOf(other));
}

const pictures: readonly (readonly [string, Picture])[] = [
  ['a photograph', photograph(240, 180, 5)],
  ['a drawing', drawing(240, 180)],
  ['a cut-out', cutOut(180, 180)],
];

describe.each(pictures)('%s', (_name, picture) => {
  it.each([30, 50, 75, 90, 100])(
    'uploaded as WebP of quality %d looks the same when it is stored',
    async (quality) => {
      const upload = await over(picture).webp({ quality }).toBuffer();
      const { master } = await decoder.ingest(upload, 'image/webp');
      expect(await likeness(upload, master)).toBeGreaterThanOrEqual(SSIM_MIN);
    },
  );

  it.each([30, 50, 75, 95])(
    'uploaded as AVIF of quality %d looks the same when it is stored',
    async (quality) => {
      for (const bitdepth of quality === 75 ? ([8, 10, 12] as const) : ([8] as const)) {
        const upload = await over(picture).avif({ quality, bitdepth, effort: 1 }).toBuffer();
        const { master } = await decoder.ingest(upload, 'image/avif');
        const seen = await likeness(upload, master);
        expect(seen, `${bitdepth} bits`).toBeGreaterThanOrEqual(SSIM_MIN);
      }
    },
  );

  it.each([2, 16, 256])(
    'uploaded as a GIF of %d colors looks the same when it is stored',
    async (colors) => {
      const upload = await over(picture).gif({ colors }).toBuffer();
      const { master } = await decoder.ingest(upload, 'image/gif');
      expect(await likeness(upload, master)).toBeGreaterThanOrEqual(SSIM_MIN);
    },
  );

  it.each([
    ['image/webp', () => over(picture).webp({ lossless: true, exact: true })],
    ['image/png', () => over(picture).png()],
    ['image/png', () => over(picture).png({ progressive: true })],
    ['image/tiff', () => over(picture).tiff({ compression: 'deflate' })],
  ] as const)(
    'uploaded as lossless %s keeps every sample, including hidden ones',
    async (type, print) => {
      const { master } = await decoder.ingest(await print().toBuffer(), type);
      expect((await sharp(master).raw().toBuffer()).equals(picture.data)).toBe(true);
    },
  );
});

describe('a mezzanine image', () => {
  it.each([
    ['of a JPEG', 'image/jpeg', () => over(photograph(2100, 700)).jpeg({ quality: 90 })],
    ['of a PNG', 'image/png', () => over(photograph(1200, 900)).png({ compressionLevel: 1 })],
    ['of a drawing', 'image/png', () => over(drawing(2100, 700)).png()],
    ['of a cut-out', 'image/webp', () => over(cutOut(1100, 1100)).webp({ quality: 90 })],
  ] as const)('%s looks like the whole image scaled down', async (_name, type, print) => {
    const upload = await print().toBuffer();
    const { mezzanines } = await decoder.ingest(upload, type);
    expect(mezzanines.length).toBeGreaterThan(0);
    for (const { bytes, width, height } of mezzanines) {
      const shrunk = await sharp(upload).resize({ width, height, fit: 'fill' }).png().toBuffer();
      expect(await likeness(shrunk, bytes)).toBeGreaterThanOrEqual(SSIM_MIN);
    }
  });
});
