/** How far two pictures are apart, for those of the documents: processors, and fonts, may differ a little. */
import sharp from 'sharp';

/** What holds of all pixels, and each. */
export async function pixelsOf(bytes: Buffer) {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const { format } = await sharp(bytes).metadata();
  return {
    data,
    info: { format, width: info.width, height: info.height, channels: info.channels },
  };
}

/** Of each value of each pixel, of 255. */
export function meanDifference(one: Buffer = Buffer.of(), other: Buffer = Buffer.of()): number {
  const sum = one.reduce((total, value, at) => total + Math.abs(value - (other[at] ?? 0)), 0);
  return sum / one.length;
}
