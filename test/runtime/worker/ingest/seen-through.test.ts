// Transparent pixels keep their colors in half-way images, however faint they are, since the colors are visible once
// composited. Spec: What the service does; Delivery host.
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { useDecoder } from '../../../support/decoder.ts';

const decoder = useDecoder();
const COLOR = [255, 3, 100] as const;

/** One color that fades out from the center, like a glow or a soft shadow. */
function glow(width: number, height: number): Buffer {
  const rgba = Buffer.alloc(width * height * 4);
  for (let at = 0; at < width * height; at += 1) {
    const distance = Math.hypot((at % width) - width / 2, Math.floor(at / width) - height / 2);
    const alpha = Math.max(0, Math.round(255 * (1 - (2 * distance) / height)));
    rgba.set([...COLOR, alpha], at * 4);
  }
  return rgba;
}

/**
 * The error that is visible on any background (0 to 255): maximum and mean over all color values.
 */
async function seenErrors(image: Buffer): Promise<{ max: number; mean: number }> {
  const rgba = await sharp(image).raw().toBuffer();
  const errors = COLOR.flatMap((wanted, channel) =>
    Array.from({ length: rgba.length / 4 }, (_, at) => {
      const alpha = rgba[at * 4 + 3] ?? 0;
      return (((rgba[at * 4 + channel] ?? 0) - wanted) * alpha) / 255;
    }),
  );
  const max = errors.reduce((most, error) => Math.max(most, Math.abs(error)), 0);
  return { max, mean: errors.reduce((sum, error) => sum + error, 0) / errors.length };
}

it.each(['png', 'webp'] as const)(
  'a soft glow in a %s keeps its brightness in every mezzanine image',
  async (format) => {
    const raw = { width: 1200, height: 900, channels: 4 } as const;
    const picture = sharp(glow(1200, 900), { raw });
    const upload = await picture.toFormat(format, { lossless: true, effort: 1 }).toBuffer();
    const { mezzanines } = await decoder.ingest(upload, `image/${format}`);
    expect(mezzanines.map(({ long_edge }) => long_edge)).toEqual([1024, 720]);
    for (const { bytes } of mezzanines) {
      const { max, mean } = await seenErrors(bytes);
      expect(max).toBeLessThan(2);
      expect(Math.abs(mean)).toBeLessThan(0.1);
    }
  },
);
