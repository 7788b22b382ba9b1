// Spec: What the service does. CMYK images are converted as Little CMS does with black point compensation.
import fc from 'fast-check';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { readInkTable } from '../../../../runtime/worker/ingest/colors/ink-table.ts';
import { printColors } from '../../../../runtime/worker/ingest/colors/print-colors.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { deltaE, quantile } from '../../../support/delta-e.ts';
import { inkForms, printInkProfile } from '../../../support/ink-profiles.ts';
import { convertTiff, withProfile } from '../../../support/little-cms.ts';
import { seededRandom } from '../../../support/pictures.ts';
import { printTiff } from '../../../support/tiff.ts';

const decoder = useDecoder();
const [width, height] = [96, 64];
const INKS = 4;

/** Random ink mixtures, with far more ink than paper holds. */
function anyInks(): Buffer {
  const random = seededRandom(11);
  return Buffer.from(
    Array.from({ length: width * height * INKS }, () => Math.floor(256 * random() ** 1.5)),
  );
}

/** Smooth gradients, since lossy compression would blur edges. */
function softInks(): Buffer {
  const inks = Buffer.alloc(width * height * INKS);
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [(at % width) / width, Math.floor(at / width) / height];
    inks.set([200 * x, 180 * y, 120 * (1 - x), 140 * x * y].map(Math.round), at * INKS);
  }
  return inks;
}

type Inks = { inks: Buffer; depth?: 8 | 16; extra?: number };

function tiffOf({ inks, depth = 8, extra = 0 }: Inks): Buffer {
  const samples = INKS + extra;
  const bits = Array.from({ length: samples }, () => depth);
  const tags = { 258: bits, 262: [5], ...(extra > 0 ? { 338: [2] } : {}) };
  return printTiff([{ width, height, samples, strips: [inks], tags }]);
}

const libraryProfile = async () => {
  const point = sharp({ create: { width: 1, height: 1, channels: 3, background: '#fff' } });
  const bytes = await point.toColourspace('cmyk').withIccProfile('cmyk').tiff().toBuffer();
  return (await sharp(bytes).metadata()).icc ?? Buffer.alloc(0);
};

const rgb = (picture: Sharp) => picture.toColourspace('srgb').removeAlpha().raw().toBuffer();

async function expectAsLittleCms(master: Buffer, tiff: Buffer): Promise<void> {
  const reference = sharp(await convertTiff(tiff), { ignoreIcc: true });
  const differences = deltaE(await rgb(sharp(master)), await rgb(reference));
  expect(quantile(differences, 0.5)).toBeLessThanOrEqual(1);
  expect(quantile(differences, 0.99)).toBeLessThanOrEqual(2.5);
}

describe('CMYK colors', () => {
  it.each(inkForms)(
    'match Little CMS for a lookup table profile, at 8 and 16 bits: %s',
    async (form) => {
      const profile = printInkProfile(form);
      const tiff = await withProfile(tiffOf({ inks: anyInks() }), 'tif', profile);
      const { master, native } = await decoder.ingest(tiff, 'image/tiff');
      expect(native).toBeNull();
      await expectAsLittleCms(master, tiff);
      const wide = Buffer.from(Uint16Array.from(anyInks(), (value) => value * 257).buffer);
      const deep = await withProfile(tiffOf({ inks: wide, depth: 16 }), 'tif', profile);
      const stored = (await decoder.ingest(deep, 'image/tiff')).master;
      expect((await sharp(stored).metadata()).depth).toBe('ushort');
      await expectAsLittleCms(stored, tiff);
    },
  );

  it('match Little CMS in a JPEG, and the CMYK original is kept beside it', async () => {
    const profile = await libraryProfile();
    const inks = await sharp(tiffOf({ inks: softInks() }))
      .pipelineColourspace('cmyk')
      .toColourspace('cmyk')
      .jpeg({ quality: 97, chromaSubsampling: '4:4:4' })
      .toBuffer();
    const upload = await withProfile(inks, 'jpg', profile);
    const { master, native, metadata } = await decoder.ingest(upload, 'image/jpeg');
    expect((await sharp(native ?? master).metadata()).space).toBe('cmyk');
    expect(metadata.icc).toBeDefined();
    await expectAsLittleCms(
      master,
      await withProfile(tiffOf({ inks: softInks() }), 'tif', profile),
    );
  });

  it('without a profile use the default inks: paper is white, all inks together are nearly black', async () => {
    const bare = tiffOf({ inks: anyInks() });
    const { master } = await decoder.ingest(bare, 'image/tiff');
    await expectAsLittleCms(master, await withProfile(bare, 'tif', await libraryProfile()));
    const ends = anyInks()
      .fill(0, 0, INKS)
      .fill(255, INKS, 2 * INKS);
    const plain = await decoder.ingest(tiffOf({ inks: ends }), 'image/tiff');
    const [paper, full] = [0, 3].map((at) =>
      rgb(sharp(plain.master)).then((all) => all.subarray(at, at + 3)),
    );
    expect([...((await paper) ?? [])]).toEqual([255, 255, 255]);
    expect(Math.max(...((await full) ?? [255]))).toBeLessThan(30);
  });

  it('with a damaged lookup table are converted, or the table is ignored, without throwing', () => {
    const some = anyInks().subarray(0, 400);
    const damage = fc.record({
      form: fc.constantFrom(...inkForms),
      places: fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      length: fc.double({ min: 0.01, max: 1, noNaN: true }),
    });
    const check = fc.property(damage, ({ form, places, length }) => {
      const whole = printInkProfile(form);
      for (const [at, value] of places) whole[128 + at] = value;
      const table = readInkTable(whole.subarray(0, Math.ceil(whole.length * length)));
      if (table === undefined) return;
      const inks = Uint8Array.from(some);
      expect(printColors(inks, INKS, table).length).toBe(300);
    });
    fc.assert(check, { numRuns: 300, seed: 4 });
  });

  it('with a truncated profile are converted to sRGB as sharp does it by itself', async () => {
    const profile = printInkProfile('lut16');
    profile.writeUInt32BE(65_000, profile.indexOf('A2B0') + 8);
    const upload = await withProfile(tiffOf({ inks: anyInks() }), 'tif', profile);
    const { master } = await decoder.ingest(upload, 'image/tiff');
    expect((await sharp(master).metadata()).space).toBe('srgb');
    expect((await rgb(sharp(master))).equals(await rgb(sharp(upload)))).toBe(true);
  });

  it('keep their alpha channel unchanged', async () => {
    const [inks, random] = [anyInks(), seededRandom(5)];
    const alphas = Buffer.from(
      Array.from({ length: width * height }, () => Math.floor(256 * random())),
    );
    const five = Buffer.concat(
      Array.from({ length: width * height }, (_, at) =>
        Buffer.concat([inks.subarray(at * INKS, (at + 1) * INKS), alphas.subarray(at, at + 1)]),
      ),
    );
    const { master, has_alpha } = await decoder.ingest(
      tiffOf({ inks: five, extra: 1 }),
      'image/tiff',
    );
    expect(has_alpha).toBe(true);
    const stored = await sharp(master).extractChannel(3).raw().toBuffer();
    expect(stored.equals(alphas)).toBe(true);
  });
});
