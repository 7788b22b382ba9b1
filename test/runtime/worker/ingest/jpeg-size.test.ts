// A JPEG is stored visually unchanged and hardly larger, at its own quality and chroma subsampling. Spec: What the
// service does.
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { cjpeg } from '../../../support/cjpeg.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { over, type Picture, photograph } from '../../../support/pictures.ts';
import { type Samples, ssim } from '../../../support/ssim.ts';

const JPEG = 'image/jpeg';
const QUALITIES = [40, 60, 75, 85, 92, 98];
const SAMPLINGS = ['2x2', '2x1', '1x2', '1x1'];
const SSIM_MIN = 0.98;
const GROWTH_P95_MAX = 1.25;

const decoder = useDecoder();

/** Sharp and blurred photographs, with more and less detail. */
async function photographs(): Promise<Picture[]> {
  const [width, height] = [320, 240];
  const blurred = (seed: number, sigma: number) =>
    over(photograph(width, height, seed))
      .blur(sigma)
      .raw()
      .toBuffer();
  const reduced = (seed: number) =>
    over(photograph(1280, 960, seed))
      .resize(width, height)
      .raw()
      .toBuffer();
  const all = [photograph(width, height, 1).data, await blurred(2, 0.6), await blurred(3, 2.5)];
  return [...all, await reduced(4)].map((data) => ({ data, width, height, channels: 3 }));
}

async function samplesOf(bytes: Buffer): Promise<Samples> {
  const options = { resolveWithObject: true } as const;
  const { data, info } = await sharp(bytes).ensureAlpha().raw().toBuffer(options);
  return { data, width: info.width, height: info.height };
}

async function likeness(one: Buffer, other: Buffer): Promise<number> {
  return ssim(await samplesOf(one), await samplesOf(other));
}

it('a stored JPEG of any quality and chroma subsampling looks the same and has hardly grown', async () => {
  const growth: number[] = [];
  for (const picture of await photographs()) {
    for (const quality of QUALITIES) {
      for (const sampling of SAMPLINGS) {
        const words = ['-quality', `${quality}`, '-sample', sampling, '-optimize'];
        const upload = await cjpeg(picture, words);
        expect(scanImage(upload, JPEG).quality).toBe(quality);
        const { master } = await decoder.ingest(upload, JPEG);
        // The encoder supports only 4:2:0 and 4:4:4. Chroma halved in one direction is stored in
        // full.
        const chroma = sampling === '2x2' ? '4:2:0' : '4:4:4';
        expect(scanImage(master, JPEG).chroma, words.join(' ')).toBe(chroma);
        expect(await likeness(upload, master), words.join(' ')).toBeGreaterThanOrEqual(SSIM_MIN);
        growth.push(master.length / upload.length);
      }
    }
  }
  expect(growth).toHaveLength(96);
  const p95 = growth.toSorted((a, b) => a - b)[Math.ceil(growth.length * 0.95) - 1];
  expect(p95).toBeLessThanOrEqual(GROWTH_P95_MAX);
});

it.each([40, 60, 90])(
  'a stored JPEG with mozjpeg tables, quality %d, looks the same',
  async (quality) => {
    for (const picture of await photographs()) {
      const upload = await over(picture).jpeg({ quality, mozjpeg: true }).toBuffer();
      const { master } = await decoder.ingest(upload, JPEG);
      expect(await likeness(upload, master)).toBeGreaterThanOrEqual(SSIM_MIN);
    }
  },
);

it('a stored low-quality JPEG looks the same if it was rotated or converted from another color space', async () => {
  for (const picture of await photographs()) {
    const plain = over(picture).jpeg({ quality: 45, chromaSubsampling: '4:4:4' });
    const turned = await plain.clone().withMetadata({ orientation: 6 }).toBuffer();
    const printed = await plain.withIccProfile('p3').toBuffer();
    const stored = await Promise.all([turned, printed].map((one) => decoder.ingest(one, JPEG)));
    const seen = await sharp(turned).autoOrient().png().toBuffer();
    expect(await likeness(seen, stored[0]?.master ?? turned)).toBeGreaterThanOrEqual(SSIM_MIN);
    expect(await likeness(printed, stored[1]?.master ?? turned)).toBeGreaterThanOrEqual(SSIM_MIN);
  }
});
