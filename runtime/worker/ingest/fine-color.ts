/**
 * Whether color changes from pixel to pixel, as in colored text and drawings, and rarely in photographs: a half-way
 * image with halved color would then be visible in renders. Spec: What the service does.
 */
import type { Pixels } from './pixels.ts';

/** The spread of Cb and Cr within two by two pixels. */
const SPREAD_MIN = 40;
const SHARE_MIN = 0.01;
const COLOR_CHANNELS = 3;

export async function hasFineColor(pixels: Pixels): Promise<boolean> {
  const { data, info } = await pixels
    .open()
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  return info.channels >= COLOR_CHANNELS && fineShare(data, info) >= SHARE_MIN;
}

type Layout = { width: number; height: number; channels: number };

/** Every second row of blocks is as representative as all. */
function fineShare(data: Buffer, { width, height, channels }: Layout): number {
  let [fine, count] = [0, 0];
  for (let y = 0; y + 1 < height; y += 4) {
    for (let x = 0; x + 1 < width; x += 2) {
      const at = (y * width + x) * channels;
      const below = at + width * channels;
      const spread = spreadOf(data, [at, at + channels, below, below + channels]);
      if (spread >= SPREAD_MIN) fine += 1;
      count += 1;
    }
  }
  return count === 0 ? 0 : fine / count;
}

/** The larger of the spreads of Cb and Cr, computed from blue and red minus the lightness. */
function spreadOf(data: Buffer, block: readonly [number, number, number, number]): number {
  let [blueMin, blueMax, redMin, redMax] = [255, -255, 255, -255];
  for (const at of block) {
    const red = data[at] ?? 0;
    const blue = data[at + 2] ?? 0;
    const light = 0.299 * red + 0.587 * (data[at + 1] ?? 0) + 0.114 * blue;
    const cb = 0.564 * (blue - light);
    const cr = 0.713 * (red - light);
    if (cb < blueMin) blueMin = cb;
    if (cb > blueMax) blueMax = cb;
    if (cr < redMin) redMin = cr;
    if (cr > redMax) redMax = cr;
  }
  return Math.max(blueMax - blueMin, redMax - redMin);
}
