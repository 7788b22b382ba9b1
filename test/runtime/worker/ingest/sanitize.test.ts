import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';
import {
  animatedPng,
  animatedWebp,
  cameraJpeg,
  cutOut,
  deepPng,
  drawing,
  over,
  photograph,
  pngBomb,
  pngChunk,
  psnr,
  quarters,
} from '../../../support/pictures.ts';
import { printPng } from '../../../support/png.ts';

const decoder = useDecoder();

const raw = (bytes: Buffer) => sharp(bytes).raw().toBuffer();
const colorAt = async (bytes: Buffer, left: number, top: number) => [
  ...(await sharp(bytes)
    .removeAlpha()
    .extract({ left, top, width: 1, height: 1 })
    .raw()
    .toBuffer()),
];

describe('sanitizing a JPEG', () => {
  it('applies each of the eight orientations once, and removes it', async () => {
    const upright = await decoder.ingest(
      await over(quarters(64, 32)).jpeg().toBuffer(),
      'image/jpeg',
    );
    expect([upright.width, upright.height]).toEqual([64, 32]);
    for (let orientation = 1; orientation <= 8; orientation += 1) {
      const turned = await sharp(await over(quarters(64, 32)).png().toBuffer())
        .jpeg({ quality: 95, chromaSubsampling: '4:4:4' })
        .withMetadata({ orientation })
        .toBuffer();
      const { master, width, height } = await decoder.ingest(turned, 'image/jpeg');
      expect([width, height], `orientation ${orientation}`).toEqual(
        orientation < 5 ? [64, 32] : [32, 64],
      );
      const expected = await sharp(turned).autoOrient().raw().toBuffer();
      expect(psnr(await raw(master), expected), `orientation ${orientation}`).toBeGreaterThan(35);
      expect((await sharp(master).metadata()).orientation).toBeUndefined();
    }
  });

  it('keeps the picture, strips its metadata and returns that separately', async () => {
    const upload = await cameraJpeg(photograph(600, 400));
    const result = await decoder.ingest(upload, 'image/jpeg');
    const { exif, icc, xmp, isProgressive } = await sharp(result.master).metadata();
    expect([exif, icc, xmp, isProgressive]).toEqual([undefined, undefined, undefined, false]);
    expect(result.master.includes('Tintype')).toBe(false);
    expect(result.metadata.exif?.includes('Tintype')).toBe(true);
    expect(psnr(await raw(result.master), await raw(upload))).toBeGreaterThan(38);
  });

  it('reads location and capture time', async () => {
    const { location, taken_at } = await decoder.ingest(
      await cameraJpeg(photograph(64, 64)),
      'image/jpeg',
    );
    expect(location?.latitude).toBeCloseTo(-33.8566667, 5);
    expect(location?.longitude).toBeCloseTo(151.21, 5);
    expect(taken_at).toBe('2024-05-06T05:08:09.000Z');
  });

  it('returns no location, capture time or metadata if the file has none', async () => {
    const result = await decoder.ingest(
      await over(photograph(64, 64)).jpeg().toBuffer(),
      'image/jpeg',
    );
    expect([result.location, result.taken_at, result.metadata]).toEqual([null, null, {}]);
  });

  it.each([
    [60, 60],
    [80, 80],
    [90, 90],
    [99, 95],
  ])('stores an image of quality %d with quality %d', async (quality, stored) => {
    const upload = await over(photograph(200, 200)).jpeg({ quality }).toBuffer();
    const { master } = await decoder.ingest(upload, 'image/jpeg');
    const expected = await sharp(upload).jpeg({ quality: stored }).toBuffer();
    expect(Math.abs(master.length - expected.length)).toBeLessThanOrEqual(expected.length * 0.02);
  });

  it.each(['4:2:0', '4:4:4'])('keeps %s chroma', async (chromaSubsampling) => {
    const upload = await over(photograph(200, 200)).jpeg({ chromaSubsampling }).toBuffer();
    const { master } = await decoder.ingest(upload, 'image/jpeg');
    expect((await sharp(master).metadata()).chromaSubsampling).toBe(chromaSubsampling);
  });

  it('stores a progressive grayscale image as a baseline grayscale image', async () => {
    const upload = await over(photograph(200, 200))
      .greyscale()
      .toColourspace('b-w')
      .jpeg({ progressive: true })
      .toBuffer();
    const { master } = await decoder.ingest(upload, 'image/jpeg');
    expect(await sharp(master).metadata()).toMatchObject({ isProgressive: false, channels: 1 });
  });

  it('converts another color space once, and keeps the original pixels beside it', async () => {
    const wide = await over(photograph(200, 200))
      .withIccProfile('p3')
      .jpeg({ quality: 95 })
      .toBuffer();
    const result = await decoder.ingest(wide, 'image/jpeg');
    expect(psnr(await raw(result.master), await raw(wide))).toBeGreaterThan(38);
    expect(result.metadata.icc?.length).toBeGreaterThan(100);
    const own = await sharp(wide, { ignoreIcc: true }).raw().toBuffer();
    expect(psnr(await raw(result.native ?? Buffer.alloc(0)), own)).toBeGreaterThan(38);
    expect((await sharp(result.native ?? Buffer.alloc(0)).metadata()).icc).toBeUndefined();
  });

  it('treats an image with an sRGB profile as sRGB, without keeping the original beside it', async () => {
    const upload = await over(photograph(100, 100)).withIccProfile('srgb').jpeg().toBuffer();
    const result = await decoder.ingest(upload, 'image/jpeg');
    expect(result.native).toBeNull();
    expect(psnr(await raw(result.master), await raw(upload))).toBeGreaterThan(38);
  });

  it('converts CMYK, and keeps the CMYK pixels beside it', async () => {
    const print = await over(photograph(100, 100))
      .toColourspace('cmyk')
      .withIccProfile('cmyk')
      .jpeg({ quality: 95 })
      .toBuffer();
    const result = await decoder.ingest(print, 'image/jpeg');
    expect((await sharp(result.master).metadata()).space).toBe('srgb');
    expect(psnr(await raw(result.master), await raw(print))).toBeGreaterThan(34);
    expect((await sharp(result.native ?? Buffer.alloc(0)).metadata()).space).toBe('cmyk');
  });

  it('ignores an invalid profile', async () => {
    const plain = await over(photograph(100, 100)).jpeg().toBuffer();
    const body = Buffer.concat([
      Buffer.from('ICC_PROFILE\0\x01\x01', 'latin1'),
      Buffer.alloc(300, 1),
    ]);
    const head = Buffer.from([0xff, 0xe2, 0, 0]);
    head.writeUInt16BE(body.length + 2, 2);
    const upload = Buffer.concat([plain.subarray(0, 2), head, body, plain.subarray(2)]);
    const result = await decoder.ingest(upload, 'image/jpeg');
    expect(result.metadata.icc).toBeUndefined();
    expect(psnr(await raw(result.master), await raw(plain))).toBeGreaterThan(38);
  });
});

describe('sanitizing a PNG', () => {
  it('keeps every pixel, including invisible ones', async () => {
    for (const picture of [photograph(123, 77), drawing(200, 100), cutOut(90, 90)]) {
      const upload = await over(picture).png().toBuffer();
      const { master } = await decoder.ingest(upload, 'image/png');
      expect((await raw(master)).equals(picture.data)).toBe(true);
    }
  });

  it('keeps 16 bits', async () => {
    const upload = await deepPng(80, 60);
    const { master } = await decoder.ingest(upload, 'image/png');
    const samples = (bytes: Buffer) =>
      sharp(bytes).toColourspace('rgb16').raw({ depth: 'ushort' }).toBuffer();
    expect((await samples(master)).equals(await samples(upload))).toBe(true);
    expect((await sharp(master).metadata()).depth).toBe('ushort');
  });

  it('keeps the colors of a palette', async () => {
    const upload = await over(drawing(300, 200)).png({ palette: true, colors: 8 }).toBuffer();
    const { master } = await decoder.ingest(upload, 'image/png');
    expect((await raw(master)).equals(await raw(upload))).toBe(true);
  });

  it('keeps grayscale and one-bit pictures grayscale, with identical pixels', async () => {
    const grey = await over(photograph(50, 50)).greyscale().toColourspace('b-w').png().toBuffer();
    const samplesAt = (x: number, y: number) => [(x + y) % 2];
    const oneBit = printPng({ width: 50, height: 50, color: 0, depth: 1, samplesAt });
    const shades = (bytes: Buffer) => sharp(bytes).toColourspace('b-w').raw().toBuffer();
    for (const upload of [grey, oneBit]) {
      const { master } = await decoder.ingest(upload, 'image/png');
      expect((await sharp(master).metadata()).channels).toBe(1);
      expect((await shades(master)).equals(await shades(upload))).toBe(true);
    }
  });

  it('keeps pixels identical under a profile that is sRGB', async () => {
    const picture = photograph(60, 60);
    const upload = await over(picture).withIccProfile('srgb').png().toBuffer();
    const { master, metadata } = await decoder.ingest(upload, 'image/png');
    expect(
      (await raw(master)).equals(await sharp(upload, { ignoreIcc: true }).raw().toBuffer()),
    ).toBe(true);
    expect(metadata.icc).toBeDefined();
    expect((await sharp(master).metadata()).icc).toBeUndefined();
  });

  it('reports transparency, also that of a palette', async () => {
    const seen = await Promise.all(
      [
        over(photograph(40, 40)).png(),
        over(cutOut(40, 40)).png(),
        over(cutOut(40, 40)).png({ palette: true }),
      ].map(async (png) => (await decoder.ingest(await png.toBuffer(), 'image/png')).has_alpha),
    );
    expect(seen).toEqual([false, true, true]);
  });
});

describe('sanitizing a WebP', () => {
  it('keeps a lossless image lossless, including invisible pixels', async () => {
    const picture = cutOut(120, 90);
    const upload = await over(picture).webp({ lossless: true, exact: true }).toBuffer();
    const result = await decoder.ingest(upload, 'image/webp');
    expect(result).toMatchObject({ is_lossless: true, has_alpha: true });
    expect((await raw(result.master)).equals(picture.data)).toBe(true);
    expect(result.master.includes('VP8L')).toBe(true);
  });

  it('keeps a lossy image lossy and close to the original', async () => {
    const upload = await over(photograph(300, 200)).webp({ quality: 85 }).toBuffer();
    const result = await decoder.ingest(upload, 'image/webp');
    expect(result).toMatchObject({ is_lossless: false, has_alpha: false });
    expect(psnr(await raw(result.master), await raw(upload))).toBeGreaterThan(36);
  });

  it('keeps the transparency of a lossy image exactly', async () => {
    const upload = await over(cutOut(100, 100)).webp({ quality: 90 }).toBuffer();
    const { master } = await decoder.ingest(upload, 'image/webp');
    const alpha = (bytes: Buffer) => sharp(bytes).extractChannel(3).raw().toBuffer();
    expect((await alpha(master)).equals(await alpha(upload))).toBe(true);
  });
});

describe('mezzanine images', () => {
  it.each([
    [700, 500, []],
    [720, 720, []],
    [721, 400, [720]],
    [1024, 300, [720]],
    [1025, 400, [1024, 720]],
    [500, 2100, [2048, 1024, 720]],
  ])(
    'of a %dx%d image have the fixed long edges that are shorter than its own: %j',
    async (width, height, edges) => {
      const upload = await over(photograph(width, height)).jpeg().toBuffer();
      const { mezzanines } = await decoder.ingest(upload, 'image/jpeg');
      expect(mezzanines.map(({ long_edge }) => long_edge)).toEqual(edges);
      for (const mezzanine of mezzanines) {
        const seen = await sharp(mezzanine.bytes).metadata();
        expect([seen.width, seen.height]).toEqual([mezzanine.width, mezzanine.height]);
        expect(Math.max(mezzanine.width, mezzanine.height)).toBe(mezzanine.long_edge);
        expect(`image/${seen.format}`).toBe(mezzanine.content_type);
      }
    },
  );

  it('keep transparency where the picture has it', async () => {
    const upload = await over(cutOut(1100, 1100)).png().toBuffer();
    const { mezzanines } = await decoder.ingest(upload, 'image/png');
    const { hasAlpha } = await sharp(mezzanines[0]?.bytes).metadata();
    expect(hasAlpha).toBe(true);
  });

  it('are PNGs of drawings and JPEGs of photographs', async () => {
    const types = await Promise.all(
      [drawing(1200, 800), photograph(1200, 800)].map(async (picture) => {
        const upload = await over(picture).png().toBuffer();
        return (await decoder.ingest(upload, 'image/png')).mezzanines[0]?.content_type;
      }),
    );
    expect(types).toEqual(['image/png', 'image/jpeg']);
  });

  it('are upright and 8 bits deep', async () => {
    const upload = await cameraJpeg(photograph(1200, 600), 6);
    const { mezzanines } = await decoder.ingest(upload, 'image/jpeg');
    expect(mezzanines[0]).toMatchObject({ width: 512, height: 1024 });
    const deep = await decoder.ingest(await deepPng(1100, 100), 'image/png');
    expect((await sharp(deep.mezzanines[0]?.bytes).metadata()).depth).toBe('uchar');
  });
});

describe('the facts about an image', () => {
  it('place the focal point on the object that stands out', async () => {
    const picture = {
      data: Buffer.alloc(400 * 300 * 3, 120),
      width: 400,
      height: 300,
      channels: 3 as const,
    };
    const patch = await sharp({
      create: { width: 60, height: 60, channels: 3, background: '#e02020' },
    })
      .png()
      .toBuffer();
    const upload = await over(picture)
      .composite([{ input: patch, left: 300, top: 40 }])
      .png()
      .toBuffer();
    const { focal_x, focal_y } = await decoder.ingest(upload, 'image/png');
    expect(focal_x).toBeGreaterThan(0.7);
    expect(focal_x).toBeLessThan(0.95);
    expect(focal_y).toBeLessThan(0.4);
  });

  it('place the focal point in the middle of a flat image, however small', async () => {
    for (const side of [1, 2, 300]) {
      const upload = await sharp({
        create: { width: side, height: side, channels: 3, background: '#446688' },
      })
        .png()
        .toBuffer();
      expect(await decoder.ingest(upload, 'image/png')).toMatchObject({
        focal_x: 0.5,
        focal_y: 0.5,
      });
    }
  });

  it('give the dominant color as seen on white', async () => {
    const upload = await sharp({
      create: { width: 50, height: 50, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
    })
      .png()
      .toBuffer();
    const { dominant_color } = await decoder.ingest(upload, 'image/png');
    expect(dominant_color).toBe('#f8f8f8');
  });
});

describe('an unacceptable image', () => {
  const jpeg = () => over(photograph(200, 150)).jpeg().toBuffer();
  const png = () => over(photograph(200, 150)).png().toBuffer();
  const webp = () => over(photograph(200, 150)).webp().toBuffer();

  it('is rejected with unsupported_media_type if it is of another type than declared', async () => {
    expect(await decoder.refusal(await jpeg(), 'image/png')).toBe('unsupported_media_type');
    expect(await decoder.refusal(await png(), 'image/jpeg')).toBe('unsupported_media_type');
    expect(await decoder.refusal(Buffer.from('<html>'), 'image/webp')).toBe(
      'unsupported_media_type',
    );
  });

  it('is rejected with animated_not_supported if it is an animated PNG or WebP', async () => {
    expect(await decoder.refusal(animatedPng(await png()), 'image/png')).toBe(
      'animated_not_supported',
    );
    expect(await decoder.refusal(await animatedWebp(60, 40), 'image/webp')).toBe(
      'animated_not_supported',
    );
  });

  it('is rejected as animated if it announces no frame or one, but holds more', async () => {
    const control = (count: number) => animatedPng(still, count);
    const still = await png();
    const frame = pngChunk('fcTL', Buffer.alloc(26));
    const ahead = (bytes: Buffer, type: string, chunks: readonly Buffer[]) => {
      const at = bytes.indexOf(type, 0, 'latin1') - 4;
      return Buffer.concat([bytes.subarray(0, at), ...chunks, bytes.subarray(at)]);
    };
    const second = [frame, pngChunk('fdAT', Buffer.alloc(9))];
    for (const moving of [
      ahead(ahead(control(0), 'IDAT', [frame]), 'IEND', second),
      ahead(ahead(control(1), 'IDAT', [frame]), 'IEND', second),
      ahead(control(1), 'IEND', second),
      ahead(ahead(control(1), 'IDAT', [frame]), 'IEND', [frame]),
    ]) {
      expect(await decoder.refusal(moving, 'image/png')).toBe('animated_not_supported');
    }
    const shown = ahead(control(1), 'IDAT', [frame]);
    expect(await decoder.refusal(shown, 'image/png')).toBeUndefined();
  });

  it('is accepted if its animation has one frame', async () => {
    expect(await decoder.refusal(animatedPng(await png(), 1), 'image/png')).toBeUndefined();
  });

  it('is rejected with image_too_large if its header declares too many pixels', async () => {
    expect(await decoder.refusal(pngBomb(12_000, 12_000), 'image/png')).toBe('image_too_large');
    expect(await decoder.refusal(pngBomb(0x7fffffff, 0x7fffffff), 'image/png')).toBe(
      'image_too_large',
    );
  });

  it('is rejected wherever it is cut off', async () => {
    for (const [type, bytes] of [
      ['image/jpeg', await jpeg()],
      ['image/png', await png()],
      ['image/webp', await webp()],
    ] as const) {
      for (const share of [0.02, 0.3, 0.6, 0.9]) {
        const cut = bytes.subarray(0, Math.max(30, bytes.length * share));
        expect(await decoder.refusal(cut, type), `${type} ${share}`).toBe('decode_failed');
      }
      for (const length of [0, 2]) {
        const start = bytes.subarray(0, length);
        expect(await decoder.refusal(start, type)).toBe('unsupported_media_type');
      }
    }
  });

  it.each([1, 11, 12])(
    'is rejected if it is a PNG without its last %i bytes, which hold no pixels',
    async (count) => {
      expect(await decoder.refusal((await png()).subarray(0, -count), 'image/png')).toBe(
        'decode_failed',
      );
    },
  );

  it('is rejected with decode_failed if its header declares no pixels, or none follow', async () => {
    expect(await decoder.refusal(pngBomb(0, 10), 'image/png')).toBe('decode_failed');
    expect(await decoder.refusal(pngBomb(10, 10), 'image/png')).toBe('decode_failed');
  });
});

it('sanitizing the same upload twice gives the same bytes', async () => {
  const upload = await over(photograph(1300, 900)).jpeg().toBuffer();
  const [one, two] = [
    await decoder.ingest(upload, 'image/jpeg'),
    await decoder.ingest(upload, 'image/jpeg'),
  ];
  expect(one.master.equals(two.master)).toBe(true);
  expect(one.mezzanines[0]?.bytes.equals(two.mezzanines[0]?.bytes ?? Buffer.alloc(0))).toBe(true);
});

it('sanitizing keeps the colors of an image in their places', async () => {
  const { master } = await decoder.ingest(
    await over(quarters(80, 80)).png().toBuffer(),
    'image/png',
  );
  expect(await colorAt(master, 10, 10)).toEqual([255, 0, 0]);
  expect(await colorAt(master, 70, 10)).toEqual([0, 255, 0]);
  expect(await colorAt(master, 10, 70)).toEqual([0, 0, 255]);
});
