/** Measures how much two images differ. Processors and fonts may cause small differences in the images of documents. */
import sharp from 'sharp';

/** The format, size and pixels of an image. */
export async function pixelsOf(bytes: Buffer) {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const { format } = await sharp(bytes).metadata();
  return {
    data,
    info: { format, width: info.width, height: info.height, channels: info.channels },
  };
}

/** The mean difference per sample, from 0 to 255. */
export function meanDifference(one: Buffer = Buffer.of(), other: Buffer = Buffer.of()): number {
  const sum = one.reduce((total, value, at) => total + Math.abs(value - (other[at] ?? 0)), 0);
  return sum / one.length;
}
