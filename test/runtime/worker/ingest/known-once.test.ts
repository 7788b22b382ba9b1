// Facts that ingest records, tested on images for which they are obvious: size, focal point, transparency, dominant
// color, ThumbHash. Spec: File (width, height); Transform operations (smart).
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';

type Rgb = { r: number; g: number; b: number };
const decoder = useDecoder();
const GREY = { r: 120, g: 120, b: 120 };
const RED = { r: 224, g: 32, b: 32 };

const flat = (width: number, height: number, background: Rgb) =>
  sharp({ create: { width, height, channels: 3, background } });

/** A red square on gray, centered at `at` (fractions of width and height). */
async function withSquare(
  { width, height }: { width: number; height: number },
  at: [number, number],
) {
  const side = Math.round(Math.min(width, height) / 5);
  const [left, top] = [Math.round(width * at[0] - side / 2), Math.round(height * at[1] - side / 2)];
  const square = await flat(side, side, RED).png().toBuffer();
  return flat(width, height, GREY).composite([{ input: square, left, top }]);
}

describe('the focal point', () => {
  it.each([
    [0.2, 0.5],
    [0.8, 0.5],
    [0.5, 0.2],
    [0.5, 0.8],
    [0.2, 0.2],
    [0.8, 0.8],
  ] as const)('is on the only object in the image: %d, %d', async (x, y) => {
    for (const size of [
      { width: 600, height: 400 },
      { width: 400, height: 600 },
      { width: 1500, height: 1500 },
    ]) {
      const upload = await (await withSquare(size, [x, y])).png().toBuffer();
      const { focal_x, focal_y } = await decoder.ingest(upload, 'image/png');
      const distance = Math.hypot((focal_x - x) * size.width, (focal_y - y) * size.height);
      expect(distance / Math.min(size.width, size.height), JSON.stringify(size)).toBeLessThan(0.15);
    }
  });

  it('rotates with the orientation of the image', async () => {
    const picture = await withSquare({ width: 600, height: 400 }, [0.2, 0.2]);
    const still = await picture.png().toBuffer();
    // Displayed rotated 90° clockwise, so the upper left corner becomes the upper right one.
    const upload = await sharp(still)
      .jpeg({ quality: 95 })
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const seen = await decoder.ingest(upload, 'image/jpeg');
    expect([seen.width, seen.height]).toEqual([400, 600]);
    expect(Math.abs(seen.focal_x - 0.8)).toBeLessThan(0.12);
    expect(Math.abs(seen.focal_y - 0.2)).toBeLessThan(0.12);
  });

  it.each(['jpeg', 'webp', 'avif', 'gif', 'tiff'] as const)(
    'is also found in %s images',
    async (format) => {
      const picture = await withSquare({ width: 400, height: 300 }, [0.75, 0.3]);
      const upload = await sharp(await picture.png().toBuffer())
        .toFormat(format)
        .toBuffer();
      const { focal_x, focal_y } = await decoder.ingest(upload, `image/${format}`);
      expect(Math.abs(focal_x - 0.75)).toBeLessThan(0.12);
      expect(Math.abs(focal_y - 0.3)).toBeLessThan(0.12);
    },
  );
});

describe('the dominant color', () => {
  it.each([
    ['#f80808', { r: 255, g: 0, b: 0 }],
    ['#0808f8', { r: 0, g: 0, b: 255 }],
    ['#181818', { r: 20, g: 20, b: 20 }],
    ['#f8f8f8', { r: 255, g: 255, b: 255 }],
    ['#489858', { r: 70, g: 150, b: 90 }],
  ])('of a single-color image is that color, in steps of 16: %s', async (color, background) => {
    const upload = await flat(120, 80, background).png().toBuffer();
    expect((await decoder.ingest(upload, 'image/png')).dominant_color).toBe(color);
  });

  it('is that of the larger part', async () => {
    const half = await flat(120, 100, RED).png().toBuffer();
    const upload = await flat(300, 100, { r: 8, g: 120, b: 200 })
      .composite([{ input: half, left: 0, top: 0 }])
      .png()
      .toBuffer();
    expect((await decoder.ingest(upload, 'image/png')).dominant_color).toBe('#0878c8');
  });

  it('of a grayscale image is gray', async () => {
    const upload = await flat(50, 50, GREY).toColourspace('b-w').png().toBuffer();
    expect((await decoder.ingest(upload, 'image/png')).dominant_color).toBe('#787878');
  });
});

describe('the ThumbHash', () => {
  /** The mean color in the first three bytes: lightness, yellow-blue and red-green. */
  function meanOf(hash: string): Rgb & { has_alpha: boolean } {
    const bytes = Buffer.from(hash, 'base64');
    const head = bytes.readUIntLE(0, 3);
    const lightness = (head & 63) / 63;
    const yellow = ((head >> 6) & 63) / 31.5 - 1;
    const red = ((head >> 12) & 63) / 31.5 - 1;
    const b = lightness - (2 / 3) * yellow;
    const r = (3 * lightness - b + red) / 2;
    const has_alpha = head >> 23 === 1;
    return { r: r * 255, g: (r - red) * 255, b: b * 255, has_alpha };
  }

  it.each([
    { r: 255, g: 0, b: 0 },
    { r: 0, g: 128, b: 255 },
    { r: 90, g: 90, b: 90 },
    { r: 250, g: 240, b: 20 },
  ])('of a single-color image has that color: %j', async (background) => {
    const upload = await flat(300, 200, background).png().toBuffer();
    const mean = meanOf((await decoder.ingest(upload, 'image/png')).thumb_hash);
    for (const channel of ['r', 'g', 'b'] as const) {
      expect(Math.abs(mean[channel] - background[channel])).toBeLessThan(14);
    }
    expect(mean.has_alpha).toBe(false);
  });

  it('records that an image is transparent and portrait', async () => {
    const clear = { r: 10, g: 200, b: 30, alpha: 0.5 };
    const upload = await sharp({
      create: { width: 90, height: 300, channels: 4, background: clear },
    })
      .png()
      .toBuffer();
    const { thumb_hash, has_alpha } = await decoder.ingest(upload, 'image/png');
    expect([meanOf(thumb_hash).has_alpha, has_alpha]).toEqual([true, true]);
    const isLandscape = (Buffer.from(thumb_hash, 'base64').readUInt16LE(3) & 0x8000) !== 0;
    expect(isLandscape).toBe(false);
  });
});
