/**
 * Reduces an image with alpha. Its colours are weighted by their opacity and rounded to nearest; libvips rounds them
 * down, so that soft edges and shadows would darken each time a smaller image is made from a larger one. Spec: What the
 * service does.
 */
import sharp from 'sharp';
import type { Size } from '../../core/delivery/geometry.ts';
import { unmultiply } from './colours/unmultiply.ts';

const CHANNELS = 4;
const COLOURS = 3;

/** Red, green, blue and alpha of 8 bits each, in input and output. */
export async function shrinkSeenThrough(rgba: Buffer, from: Size, to: Size): Promise<Buffer> {
  const { colours, alphas } = weigh(rgba);
  const [smallColours, smallAlphas] = await Promise.all([
    resize(colours, { ...from, channels: COLOURS }, to),
    resize(alphas, { ...from, channels: 1 }, to),
  ]);
  const shrunk = join(smallColours, smallAlphas);
  unmultiply(shrunk);
  return shrunk;
}

/**
 * The copies of a larger image would take too much memory; libvips reduces it strip by strip
 * instead.
 */
export const WEIGHED_PIXELS_MAX = 2048 * 2048;

function weigh(rgba: Buffer): { colours: Buffer; alphas: Buffer } {
  const count = rgba.length / CHANNELS;
  const colours = Buffer.allocUnsafe(count * COLOURS);
  const alphas = Buffer.allocUnsafe(count);
  for (let at = 0; at < count; at += 1) {
    const alpha = rgba[at * CHANNELS + COLOURS] ?? 0;
    alphas[at] = alpha;
    for (let colour = 0; colour < COLOURS; colour += 1) {
      const value = rgba[at * CHANNELS + colour] ?? 0;
      colours[at * COLOURS + colour] = Math.round((value * alpha) / 255);
    }
  }
  return { colours, alphas };
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

function join(colours: Buffer, alphas: Buffer): Buffer {
  const rgba = Buffer.allocUnsafe(alphas.length * CHANNELS);
  for (let at = 0; at < alphas.length; at += 1) {
    for (let colour = 0; colour < COLOURS; colour += 1) {
      rgba[at * CHANNELS + colour] = colours[at * COLOURS + colour] ?? 0;
    }
    rgba[at * CHANNELS + COLOURS] = alphas[at] ?? 0;
  }
  return rgba;
}
