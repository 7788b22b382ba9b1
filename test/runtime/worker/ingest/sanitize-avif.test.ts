import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { scanImage } from '../../../../runtime/worker/ingest/scan.ts';
import { box, deepSamples, gridAvif } from '../../../support/avif.ts';
import { useDecoder } from '../../../support/decoder.ts';
import { cutOut, deepPng, over, photograph, psnr, quarters } from '../../../support/pictures.ts';

const AVIF = 'image/avif';
const decoder = useDecoder();
const raw = (bytes: Buffer) => sharp(bytes).raw().toBuffer();

describe('sanitizing an AVIF', () => {
  it('keeps the picture and its format', async () => {
    const upload = await over(photograph(300, 200)).avif({ quality: 80 }).toBuffer();
    const result = await decoder.ingest(upload, AVIF);
    expect(result).toMatchObject({ content_type: AVIF, width: 300, height: 200 });
    expect(result).toMatchObject({ has_alpha: false, is_lossless: false, native: null });
    expect((await sharp(result.master).metadata()).compression).toBe('av1');
    expect(psnr(await raw(result.master), await raw(upload))).toBeGreaterThan(40);
  });

  it.each([
    ['one byte', 'x'],
    ['a truncated 64-bit box', '\0\0\0\x01free'],
    ['text', 'whatever a camera or a program writes behind its pictures'],
    ['a truncated box', '\0\0\x01\0free and some bytes'],
    ['a truncated movie box', '\0\0\x01\0moov and some bytes'],
  ])('ignores whatever follows its last box: %s', async (_, text) => {
    const upload = await over(cutOut(60, 40)).avif().toBuffer();
    const { master } = await decoder.ingest(Buffer.concat([upload, Buffer.from(text)]), AVIF);
    expect(master.equals((await decoder.ingest(upload, AVIF)).master)).toBe(true);
  });

  it('rejects a truncated file with decode_failed', async () => {
    const upload = await over(photograph(60, 40)).avif().toBuffer();
    for (const bytes of [1, 20, 400]) {
      expect(await decoder.refusal(upload.subarray(0, -bytes), AVIF)).toBe('decode_failed');
    }
  });

  it('keeps transparency', async () => {
    const upload = await over(cutOut(200, 200)).avif({ quality: 80 }).toBuffer();
    const { master, has_alpha } = await decoder.ingest(upload, AVIF);
    expect(has_alpha).toBe(true);
    const alpha = (bytes: Buffer) => sharp(bytes).extractChannel(3).raw().toBuffer();
    expect(psnr(await alpha(master), await alpha(upload))).toBeGreaterThan(38);
  });

  it.each([10, 12] as const)('keeps %d bits', async (bitdepth) => {
    const upload = await sharp(await deepPng(120, 80))
      .blur(4)
      .toColourspace('rgb16')
      .avif({ bitdepth, quality: 95 })
      .toBuffer();
    const { master } = await decoder.ingest(upload, AVIF);
    expect((await sharp(master).metadata()).bitsPerSample).toBe(bitdepth);
    const [before, after] = await Promise.all([deepSamples(upload), deepSamples(master)]);
    expect(psnr(highBytes(after), highBytes(before))).toBeGreaterThan(38);
  });

  it.each(['4:2:0', '4:4:4'])('keeps %s chroma', async (chromaSubsampling) => {
    const upload = await over(photograph(120, 90)).avif({ chromaSubsampling }).toBuffer();
    const { master } = await decoder.ingest(upload, AVIF);
    expect(scanImage(master, AVIF).chroma).toBe(chromaSubsampling);
  });

  const sizes = [60, 1300].map((side) => photograph(side, side));
  it.each([40, 60, 75, 85, 95])(
    'recognizes that it was encoded with a quality of about %d',
    async (quality) => {
      for (const picture of sizes) {
        const upload = await over(picture).avif({ quality, effort: 0, tune: 'ssim' }).toBuffer();
        const seen = scanImage(upload, AVIF).quality ?? 0;
        expect(Math.abs(seen - quality), `${picture.width}`).toBeLessThanOrEqual(2);
      }
    },
  );

  it('grows it by less than a quarter', async () => {
    const upload = await over(photograph(300, 200)).avif({ quality: 80 }).toBuffer();
    const { master } = await decoder.ingest(upload, AVIF);
    expect(master.length).toBeLessThan(upload.length * 1.25);
  });

  it('applies each of the eight orientations once, and removes it', async () => {
    for (let orientation = 1; orientation <= 8; orientation += 1) {
      const upload = await over(quarters(96, 48))
        .avif({ quality: 95, chromaSubsampling: '4:4:4' })
        .withMetadata({ orientation })
        .toBuffer();
      const { master, width, height } = await decoder.ingest(upload, AVIF);
      expect([width, height], `orientation ${orientation}`).toEqual(
        orientation < 5 ? [96, 48] : [48, 96],
      );
      const turned = await over(quarters(96, 48)).png().withMetadata({ orientation }).toBuffer();
      const expected = await sharp(turned).autoOrient().raw().toBuffer();
      expect(psnr(await raw(master), expected), `orientation ${orientation}`).toBeGreaterThan(30);
      expect(master.includes('irot') || master.includes('imir')).toBe(false);
    }
  });

  it('puts the tiles of a grid together', async () => {
    const picture = photograph(256, 192);
    const upload = await gridAvif(picture, { columns: 2, rows: 2 });
    const { master, width, height } = await decoder.ingest(upload, AVIF);
    expect([width, height]).toEqual([256, 192]);
    expect(psnr(await raw(master), picture.data)).toBeGreaterThan(36);
  });

  it('converts it to sRGB without keeping the original pixels beside it', async () => {
    const upload = await over(photograph(120, 90)).withIccProfile('p3').avif().toBuffer();
    const { master, native, metadata } = await decoder.ingest(upload, AVIF);
    expect([native, metadata]).toEqual([null, {}]);
    expect((await sharp(master).metadata()).icc).toBeUndefined();
    expect(psnr(await raw(master), await raw(upload))).toBeGreaterThan(38);
  });

  it('reads location and capture time, and strips the metadata', async () => {
    const upload = await over(photograph(64, 64))
      .avif()
      .withExif({
        IFD2: { DateTimeOriginal: '2024:05:06 07:08:09' },
        IFD3: {
          GPSLatitudeRef: 'S',
          GPSLatitude: '33/1 30/1 0/1',
          GPSLongitudeRef: 'E',
          GPSLongitude: '151/1 15/1 0/1',
        },
      })
      .toBuffer();
    const { master, taken_at, location } = await decoder.ingest(upload, AVIF);
    expect(taken_at).toBe('2024-05-06T07:08:09.000Z');
    expect(location).toEqual({ latitude: -33.5, longitude: 151.25 });
    expect((await sharp(master).metadata()).exif).toBeUndefined();
  });

  it('makes JPEG mezzanine images, and PNG ones of a transparent image', async () => {
    const sources = [photograph(1200, 800), cutOut(1100, 1100)];
    const types = await Promise.all(
      sources.map(async (picture) => {
        const upload = await over(picture).avif({ effort: 0 }).toBuffer();
        return (await decoder.ingest(upload, AVIF)).mezzanines.map((one) => one.content_type);
      }),
    );
    expect(types).toEqual([
      ['image/jpeg', 'image/jpeg'],
      ['image/png', 'image/png'],
    ]);
  });
});

describe('sanitizing an unacceptable AVIF', () => {
  const still = () => over(photograph(64, 64)).avif().toBuffer();
  const replaced = async (from: string, to: string) => {
    const bytes = await still();
    bytes.write(to, bytes.indexOf(from), 'latin1');
    return bytes;
  };

  it('rejects a sequence by its brand or by its tracks', async () => {
    const branded = await still();
    branded.write('avis', 8, 'latin1');
    const tracked = Buffer.concat([await still(), box('moov')]);
    expect(await decoder.refusal(branded, AVIF)).toBe('animated_not_supported');
    expect(await decoder.refusal(tracked, AVIF)).toBe('animated_not_supported');
  });

  it('rejects HEIC by its brand or by its codec', async () => {
    const branded = await still();
    branded.write('heic', 8, 'latin1');
    expect(await decoder.refusal(branded, AVIF)).toBe('unsupported_media_type');
    expect(await decoder.refusal(await replaced('av01', 'hvc1'), AVIF)).toBe(
      'unsupported_media_type',
    );
  });

  it('rejects a declared size above the limit', async () => {
    const bytes = await still();
    const at = bytes.indexOf('ispe') + 8;
    bytes.writeUInt32BE(7000, at);
    bytes.writeUInt32BE(5000, at + 4);
    expect(await decoder.refusal(bytes, AVIF)).toBe('image_too_large');
  });

  it('rejects a coded size above the limit, whatever the container declares', async () => {
    const bytes = await still();
    const coded = [0x0a, 8, 0x18, 0x3f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xc0];
    bytes.set(coded, bytes.indexOf('mdat') + 4);
    expect(await decoder.refusal(bytes, AVIF)).toBe('image_too_large');
  });

  it('rejects a declared size that differs from that of the picture', async () => {
    const bytes = await still();
    bytes.writeUInt32BE(4096, bytes.indexOf('ispe') + 8);
    expect(await decoder.refusal(bytes, AVIF)).toBe('decode_failed');
  });

  it.each(['pitm', 'iinf', 'ipco', 'ispe', 'av1C', 'ipma', 'iloc'])(
    'rejects a file without a %s box',
    async (type) => {
      expect(await decoder.refusal(await replaced(type, 'skip'), AVIF)).toBe('decode_failed');
    },
  );

  it('rejects more boxes than any image needs', async () => {
    const boxes = Array.from({ length: 3000 }, () => box('free'));
    const bytes = Buffer.concat([await still(), ...boxes]);
    expect(await decoder.refusal(bytes, AVIF)).toBe('decode_failed');
  });
});

/** The high bytes of 16-bit samples in native byte order. */
function highBytes(samples: Buffer): Buffer {
  return Buffer.from(
    new Uint16Array(samples.buffer, samples.byteOffset, samples.length / 2).map(
      (value) => value >> 8,
    ),
  );
}
