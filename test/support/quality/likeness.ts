/** Measures how similar two images of the same size are: structure, color and displacement. */
import sharp from 'sharp';
import { deltaE, quantile } from '../delta-e.ts';
import { channelsOf, type Samples, ssim } from '../ssim.ts';

export type Likeness = {
  /** For transparent images, the lower value of those on white and on black. */
  ssim: number;
  /** The 99th percentile of the CIE 1976 differences between the means of 4 × 4 pixel blocks. */
  color_shift: number;
  /** The displacement of the whole image, in pixels. */
  position_shift: number;
};

/** Three channels if the image is opaque, otherwise four. */
export async function samplesOf(image: Buffer): Promise<Samples> {
  const picture = sharp(image, { limitInputPixels: false }).autoOrient().toColourspace('srgb');
  const { data, info } = await picture.raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return channels < 3 ? samplesOf(await picture.png().toBuffer()) : { data, width, height };
}

export function likeness(one: Samples, other: Samples): Likeness {
  const all = pairsOf(one, other).map(([left, right]) => ({
    ssim: ssim(left, right),
    color_shift: quantile(deltaE(blocksOf(left), blocksOf(right)), 0.99),
    position_shift: shiftBetween(left, right),
  }));
  return {
    ssim: Math.min(...all.map((each) => each.ssim)),
    color_shift: Math.max(...all.map((each) => each.color_shift)),
    position_shift: Math.max(...all.map((each) => each.position_shift)),
  };
}

/** Compares only the structure, which is fast. */
export function similarity(one: Samples, other: Samples): number {
  return Math.min(...pairsOf(one, other).map(([left, right]) => ssim(left, right)));
}

const WHITE = 255;
const BLACK = 0;

function pairsOf(one: Samples, other: Samples): (readonly [Samples, Samples])[] {
  if (one.width !== other.width || one.height !== other.height) {
    throw new RangeError(`${one.width}x${one.height} and ${other.width}x${other.height}`);
  }
  const isOpaque = channelsOf(one) === 3 && channelsOf(other) === 3;
  const grounds = isOpaque ? [WHITE] : [WHITE, BLACK];
  return grounds.map((ground) => [over(one, ground), over(other, ground)] as const);
}

/** Flattens onto a gray level; three channels in any case. */
export function over(samples: Samples, ground: number = WHITE): Samples {
  const { data, width, height } = samples;
  if (channelsOf(samples) === 3) return samples;
  const flat = new Uint8Array(width * height * 3);
  for (let at = 0, to = 0; at < data.length; at += 4, to += 3) {
    const alpha = (data[at + 3] ?? 0) / 255;
    for (let channel = 0; channel < 3; channel += 1) {
      flat[to + channel] = Math.round((data[at + channel] ?? 0) * alpha + ground * (1 - alpha));
    }
  }
  return { data: flat, width, height };
}

const BLOCK = 4;

/**
 * Uses the means of blocks, so that encoder noise within a block does not count as a color shift.
 */
function blocksOf({ data, width, height }: Samples): Uint8Array {
  const [across, down] = [Math.floor(width / BLOCK), Math.floor(height / BLOCK)];
  const means = new Uint8Array(across * down * 3);
  for (let at = 0; at < across * down; at += 1) {
    const corner = Math.floor(at / across) * BLOCK * width + (at % across) * BLOCK;
    for (let channel = 0; channel < 3; channel += 1) {
      let sum = 0;
      for (let pixel = 0; pixel < BLOCK * BLOCK; pixel += 1) {
        const place = corner + Math.floor(pixel / BLOCK) * width + (pixel % BLOCK);
        sum += data[place * 3 + channel] ?? 0;
      }
      means[at * 3 + channel] = Math.round(sum / (BLOCK * BLOCK));
    }
  }
  return means;
}

/**
 * Finds the small displacement that explains most of the difference, by least squares over the
 * gradients of green. The fit includes a change of brightness, which in a smooth image would
 * otherwise look like displacement.
 */
function shiftBetween(one: Samples, other: Samples): number {
  const { width, height } = one;
  let [count, x1, y1, t1, xx, yy, xy, xt, yt] = [0, 0, 0, 0, 0, 0, 0, 0, 0];
  for (let at = width + 1; at < width * (height - 1) - 1; at += 1) {
    const green = at * 3 + 1;
    const across = ((one.data[green + 3] ?? 0) - (one.data[green - 3] ?? 0)) / 2;
    const below = (one.data[green + width * 3] ?? 0) - (one.data[green - width * 3] ?? 0);
    const down = below / 2;
    const difference = (other.data[green] ?? 0) - (one.data[green] ?? 0);
    count += 1;
    x1 += across;
    y1 += down;
    t1 += difference;
    xx += across * across;
    yy += down * down;
    xy += across * down;
    xt += across * difference;
    yt += down * difference;
  }
  return solveShift({
    xx: xx - (x1 * x1) / count,
    yy: yy - (y1 * y1) / count,
    xy: xy - (x1 * y1) / count,
    xt: xt - (x1 * t1) / count,
    yt: yt - (y1 * t1) / count,
    count,
  });
}

type Moments = Record<'xx' | 'yy' | 'xy' | 'xt' | 'yt' | 'count', number>;

/** Returns 0 where the image does not determine a displacement, as with stripes and ramps. */
function solveShift({ xx, yy, xy, xt, yt, count }: Moments): number {
  const determinant = xx * yy - xy * xy;
  if (Math.min(xx, yy) < count || determinant <= 1e-3 * Math.max(xx, yy) ** 2) return 0;
  return Math.hypot(yy * xt - xy * yt, xx * yt - xy * xt) / determinant;
}
