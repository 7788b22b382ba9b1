/** How much two images differ, for those in the documents: processors and fonts may cause small differences. */
import sharp from 'sharp';

/** The image's facts and all pixels. */
export async function pixelsOf(bytes: Buffer) {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const { format } = await sharp(bytes).metadata();
  return {
    data,
    info: { format, width: info.width, height: info.height, channels: info.channels },
  };
}

/** The mean difference per channel value, out of 255. */
export function meanDifference(one: Buffer = Buffer.of(), other: Buffer = Buffer.of()): number {
  const sum = one.reduce((total, value, at) => total + Math.abs(value - (other[at] ?? 0)), 0);
  return sum / one.length;
}
