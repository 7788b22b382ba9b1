// Spec: What the service does. Colors of other color spaces are converted as Little CMS does with the same rendering
// intent.
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import { deltaE, quantile } from '../../../support/delta-e.ts';
import {
  adobeRgb,
  displayP3,
  printGreyProfile,
  printMatrixProfile,
  proPhoto,
} from '../../../support/icc.ts';
import { inkForms, printLightProfile } from '../../../support/ink-profiles.ts';
import { convertTiff, withProfile } from '../../../support/little-cms.ts';
import { psnr, seededRandom } from '../../../support/pictures.ts';

const decoder = useDecoder();
const SIZE = { width: 96, height: 64 };
const PLAIN = { compression: 'none', predictor: 'none' } as const;

/** Random brightness with a little color, which lies within sRGB whatever the color space. */
function samples(channels: 1 | 3, spread: number): Sharp {
  const random = seededRandom(7);
  const data = Buffer.alloc(SIZE.width * SIZE.height * channels);
  for (let at = 0; at < data.length; at += channels) {
    const grey = 40 + 175 * random();
    for (let channel = 0; channel < channels; channel += 1) {
      data[at + channel] = Math.round(grey + spread * (random() * 2 - 1));
    }
  }
  const picture = sharp(data, { raw: { ...SIZE, channels } });
  return channels === 1 ? picture.toColourspace('b-w') : picture;
}

const rgb = (picture: Sharp) => picture.toColourspace('srgb').removeAlpha().raw().toBuffer();

function expectAlike(one: Buffer, other: Buffer): void {
  const differences = deltaE(one, other);
  expect(quantile(differences, 0.5)).toBeLessThanOrEqual(2);
  expect(quantile(differences, 0.99)).toBeLessThanOrEqual(5);
}

async function expectAsLittleCms(profile: Buffer, picture: () => Sharp): Promise<void> {
  const upload = await withProfile(await picture().png().toBuffer(), 'png', profile);
  const { master } = await decoder.ingest(upload, 'image/png');
  const tiff = await withProfile(await picture().tiff(PLAIN).toBuffer(), 'tif', profile);
  const reference = await rgb(sharp(await convertTiff(tiff), { ignoreIcc: true }));
  expectAlike(await rgb(sharp(master)), reference);
  const untouched = await rgb(picture());
  expect(quantile(deltaE(untouched, reference), 0.5)).toBeGreaterThan(1);
}

describe('conversion to sRGB', () => {
  it.each([
    ['Adobe RGB', printMatrixProfile(adobeRgb), 3, 24],
    ['Display P3', printMatrixProfile(displayP3), 3, 30],
    ['ProPhoto', printMatrixProfile(proPhoto), 3, 10],
    ['grey with a gamma of 1.8', printGreyProfile(1.8), 1, 0],
  ] as const)('matches Little CMS: %s', async (_name, profile, channels, spread) => {
    await expectAsLittleCms(profile, () => samples(channels, spread));
  });

  it.each(inkForms)('matches Little CMS for a lookup table profile: %s', async (form) => {
    await expectAsLittleCms(printLightProfile(form), () => samples(3, 24));
  });

  it.each([
    ['Adobe RGB', adobeRgb],
    ['Display P3', displayP3],
    ['ProPhoto', proPhoto],
  ] as const)('matches Little CMS at 16 bits per channel: %s', async (_name, numbers) => {
    const profile = printMatrixProfile(numbers);
    const deep = samples(3, 10).toColourspace('rgb16').png().toBuffer();
    const upload = await withProfile(await deep, 'png', profile);
    const { master, native } = await decoder.ingest(upload, 'image/png');
    expect((await sharp(master).metadata()).depth).toBe('ushort');
    const tiff = await withProfile(await samples(3, 10).tiff(PLAIN).toBuffer(), 'tif', profile);
    const reference = sharp(await convertTiff(tiff), { ignoreIcc: true });
    expectAlike(await rgb(sharp(master)), await rgb(reference));
    const own = await rgb(sharp(native ?? master));
    expect(quantile(deltaE(own, await rgb(samples(3, 10))), 0.99)).toBeLessThan(1);
  });

  it('leaves the pixels of an image without a profile unchanged', async () => {
    const upload = await samples(3, 60).png().toBuffer();
    const { master } = await decoder.ingest(upload, 'image/png');
    expect(psnr(await rgb(sharp(master)), await rgb(samples(3, 60)))).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});
