// Spec: What the service does. Colours of other spaces come out as Little CMS converts them, with the same intent.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp, { type Sharp } from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tagged } from '../../../support/camera.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { deltaE, quantile } from '../../../support/delta-e.ts';
import {
  adobeRgb,
  displayP3,
  printGreyProfile,
  printMatrixProfile,
  proPhoto,
} from '../../../support/icc.ts';
import { psnr, seededRandom } from '../../../support/pictures.ts';

const decoder = useDecoder();
const SIZE = { width: 96, height: 64 };
const PLAIN = { compression: 'none', predictor: 'none' } as const;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tintype-colours-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Every brightness, and so much colour about it: within sRGB, whatever the space. */
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

/** Only its profile is set: no pixel is touched. */
async function withProfile(bytes: Buffer, extension: string, profile: Buffer): Promise<Buffer> {
  const file = join(folder, 'profile.icc');
  await writeFile(file, profile);
  return tagged(bytes, extension, [`-ICC_Profile<=${file}`]);
}

/** As Little CMS has it: perceptual, without precalculated tables. */
async function convert(tiff: Buffer): Promise<Buffer> {
  const [from, to] = [join(folder, 'from.tif'), join(folder, 'to.tif')];
  await writeFile(from, tiff);
  await promisify(execFile)('tificc', ['-t0', '-c0', from, to]);
  return rgb(sharp(to, { ignoreIcc: true }));
}

const rgb = (picture: Sharp) => picture.toColourspace('srgb').removeAlpha().raw().toBuffer();

function expectAlike(one: Buffer, other: Buffer, farthest = 5): void {
  const differences = deltaE(one, other);
  expect(quantile(differences, 0.5)).toBeLessThanOrEqual(2);
  expect(quantile(differences, 0.99)).toBeLessThanOrEqual(farthest);
}

describe('colours of another space', () => {
  it.each([
    ['Adobe RGB', printMatrixProfile(adobeRgb), 3, 24],
    ['Display P3', printMatrixProfile(displayP3), 3, 30],
    ['ProPhoto', printMatrixProfile(proPhoto), 3, 10],
    ['grey with a gamma of 1.8', printGreyProfile(1.8), 1, 0],
  ] as const)('are converted as Little CMS does: %s', async (_name, profile, channels, spread) => {
    const upload = await withProfile(
      await samples(channels, spread).png().toBuffer(),
      'png',
      profile,
    );
    const { master } = await decoder.ingest(upload, 'image/png');
    const tiff = await withProfile(
      await samples(channels, spread).tiff(PLAIN).toBuffer(),
      'tif',
      profile,
    );
    const reference = await convert(tiff);
    expectAlike(await rgb(sharp(master)), reference);
    const untouched = await rgb(samples(channels, spread));
    expect(quantile(deltaE(untouched, reference), 0.5)).toBeGreaterThan(1);
  });

  it.each([
    ['Adobe RGB', adobeRgb],
    ['Display P3', displayP3],
    ['ProPhoto', proPhoto],
  ] as const)('are converted as Little CMS does, also of 16 bits: %s', async (_name, numbers) => {
    const profile = printMatrixProfile(numbers);
    const deep = samples(3, 10).toColourspace('rgb16').png().toBuffer();
    const upload = await withProfile(await deep, 'png', profile);
    const { master, native } = await decoder.ingest(upload, 'image/png');
    expect((await sharp(master).metadata()).depth).toBe('ushort');
    const tiff = await withProfile(await samples(3, 10).tiff(PLAIN).toBuffer(), 'tif', profile);
    expectAlike(await rgb(sharp(master)), await convert(tiff));
    const own = await rgb(sharp(native ?? master));
    expect(quantile(deltaE(own, await rgb(samples(3, 10))), 0.99)).toBeLessThan(1);
  });

  it('are converted as Little CMS does: CMYK', async () => {
    const upload = await samples(3, 40)
      .toColourspace('cmyk')
      .withIccProfile('cmyk')
      .tiff(PLAIN)
      .toBuffer();
    const { master } = await decoder.ingest(upload, 'image/tiff');
    // Dark yellows come out 8.4 apart at the 99th percentile: the decoder's library joins profiles in another way.
    expectAlike(await rgb(sharp(master)), await convert(upload), 10);
  });

  it('without a profile are taken for sRGB', async () => {
    const upload = await samples(3, 60).png().toBuffer();
    const { master } = await decoder.ingest(upload, 'image/png');
    expect(psnr(await rgb(sharp(master)), await rgb(samples(3, 60)))).toBe(
      Number.POSITIVE_INFINITY,
    );
  });
});
