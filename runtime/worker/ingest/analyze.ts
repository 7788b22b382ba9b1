/**
 * The facts about an image that are computed once and serve every later crop: focal point, dominant color, ThumbHash.
 */
import sharp, { type Sharp } from 'sharp';
import { type Pixels, shrinkTo } from './pixels.ts';
import { thumbHash } from './thumb-hash.ts';

export type Analysis = {
  focal_x: number;
  focal_y: number;
  dominant_color: string;
  /** In base64. */
  thumb_hash: string;
};

const LONG_EDGE_PX = 256;
const THUMB_HASH_LONG_EDGE_PX = 64;
/** Below this deviation in every channel the image is flat and has no focus. */
const FLAT_DEVIATION_MAX = 1;

export async function analyze(pixels: Pixels): Promise<Analysis> {
  const small = await shrinkTo(pixels, LONG_EDGE_PX);
  const { data, info } = await small
    .open()
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const open = () => sharp(data, { raw: { width, height, channels } });
  const focus = isFlat(data, channels)
    ? { focal_x: 0.5, focal_y: 0.5 }
    : await findFocus(open(), { width, height });
  return {
    ...focus,
    dominant_color: dominantColor(data, channels),
    thumb_hash: await hash(small),
  };
}

async function hash(picture: Pixels): Promise<string> {
  const small = await shrinkTo(picture, THUMB_HASH_LONG_EDGE_PX);
  const rgba = await small.open().toColourspace('srgb').ensureAlpha().raw().toBuffer();
  return thumbHash({ width: small.width, height: small.height, rgba }).toString('base64');
}

/**
 * libvips reports the attention point of a crop; it only searches when at least half of one side is
 * cropped away.
 */
async function findFocus(picture: Sharp, size: { width: number; height: number }) {
  const crop =
    size.width >= size.height
      ? { width: Math.ceil(size.width / 2), height: size.height }
      : { width: size.width, height: Math.ceil(size.height / 2) };
  const { info } = await picture
    .resize({ ...crop, fit: 'cover', position: 'attention' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return {
    focal_x: fraction(info.attentionX, size.width),
    focal_y: fraction(info.attentionY, size.height),
  };
}

function fraction(at: number | undefined, length: number): number {
  if (at === undefined) return 0.5;
  const middle = (at + 0.5) / length;
  return Math.round(Math.min(Math.max(middle, 0), 1) * 10_000) / 10_000;
}

function isFlat(samples: Buffer, channels: number): boolean {
  return Array.from({ length: channels }, (_, channel) => {
    let [sum, squares] = [0, 0];
    for (let at = channel; at < samples.length; at += channels) {
      const value = samples[at] ?? 0;
      sum += value;
      squares += value * value;
    }
    const count = samples.length / channels;
    return squares / count - (sum / count) ** 2;
  }).every((variance) => variance <= FLAT_DEVIATION_MAX ** 2);
}

/** The center of the fullest of 16 x 16 x 16 bins; among equally full ones the first. */
function dominantColor(samples: Buffer, channels: number): string {
  const bins = new Uint32Array(4096);
  const level = (at: number) => (samples[at] ?? 0) >> 4;
  const [green, blue] = channels < 3 ? [0, 0] : [1, 2];
  for (let at = 0; at < samples.length; at += channels) {
    const bin = (level(at) << 8) | (level(at + green) << 4) | level(at + blue);
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const fullest = bins.indexOf(bins.reduce((most, count) => Math.max(most, count), 0));
  const color = [fullest >> 8, (fullest >> 4) & 15, fullest & 15].map((part) => part * 16 + 8);
  return `#${Buffer.from(color).toString('hex')}`;
}
