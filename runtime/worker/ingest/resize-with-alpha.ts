/**
 * Reduces an image with alpha. Its colors are weighted by their opacity and rounded to nearest; libvips rounds them
 * down, so that soft edges and shadows would darken each time a smaller image is made from a larger one. Spec: What the
 * service does.
 */
import sharp from 'sharp';
import type { Size } from '../../core/delivery/geometry.ts';
import { unmultiply } from './colors/unmultiply.ts';

const CHANNELS = 4;
const COLORS = 3;

/** Red, green, blue and alpha of 8 bits each, in input and output. */
export async function resizeWithAlpha(rgba: Buffer, from: Size, to: Size): Promise<Buffer> {
  const { colors, alphas } = weigh(rgba);
  const [smallColors, smallAlphas] = await Promise.all([
    resize(colors, { ...from, channels: COLORS }, to),
    resize(alphas, { ...from, channels: 1 }, to),
  ]);
  const shrunk = join(smallColors, smallAlphas);
  unmultiply(shrunk);
  return shrunk;
}

/**
 * The copies of a larger image would take too much memory; libvips reduces it strip by strip
 * instead.
 */
export const WEIGHED_PIXELS_MAX = 2048 * 2048;

function weigh(rgba: Buffer): { colors: Buffer; alphas: Buffer } {
  const count = rgba.length / CHANNELS;
  const colors = Buffer.allocUnsafe(count * COLORS);
  const alphas = Buffer.allocUnsafe(count);
  for (let at = 0; at < count; at += 1) {
    const alpha = rgba[at * CHANNELS + COLORS] ?? 0;
    alphas[at] = alpha;
    for (let color = 0; color < COLORS; color += 1) {
      const value = rgba[at * CHANNELS + color] ?? 0;
      colors[at * COLORS + color] = Math.round((value * alpha) / 255);
    }
  }
  return { colors, alphas };
}

function resize(
  samples: Buffer,
  raw: Size & { channels: 1 | 3 },
  { width, height }: Size,
): Promise<Buffer> {
  return sharp(samples, { raw, limitInputPixels: false })
    .resize({ width, height, fit: 'fill' })
    .toColourspace(raw.channels === 1 ? 'b-w' : 'srgb')
    .raw()
    .toBuffer();
}

function join(colors: Buffer, alphas: Buffer): Buffer {
  const rgba = Buffer.allocUnsafe(alphas.length * CHANNELS);
  for (let at = 0; at < alphas.length; at += 1) {
    for (let color = 0; color < COLORS; color += 1) {
      rgba[at * CHANNELS + color] = colors[at * COLORS + color] ?? 0;
    }
    rgba[at * CHANNELS + COLORS] = alphas[at] ?? 0;
  }
  return rgba;
}
