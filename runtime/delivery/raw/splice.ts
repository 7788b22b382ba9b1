/**
 * Restores metadata in a stored image without encoding it again: the bytes to send before the image, the offset from
 * which the image follows, and the bytes to send behind it. Spec: Output rules 7.
 */
import { spliceJpeg } from './splice-jpeg.ts';
import { splicePng } from './splice-png.ts';
import { spliceWebp } from './splice-webp.ts';

/** Blocks as saved: EXIF without its leading name, a whole ICC profile, an XMP packet. */
export type MetadataBlocks = { exif?: Buffer; icc?: Buffer; xmp?: Buffer };

/** `head`: the first `HEAD_BYTES` of the image, or the whole image if it is shorter. */
export type SplicedImage = {
  head: Buffer;
  size_bytes: number;
  width: number;
  height: number;
  has_alpha: boolean;
};

/** Between `before` and `behind` come the bytes of the image from offset `from`. */
export type Splice = { before: Buffer; from: number; behind: Buffer };

/** How many bytes of an image a splice needs to see. */
export const HEAD_BYTES = 64;

/**
 * By stored type; other types have no place for metadata that can be written without an encoder.
 */
export const splices: Readonly<
  Record<string, (image: SplicedImage, blocks: MetadataBlocks) => Splice | Promise<Splice>>
> = {
  'image/jpeg': spliceJpeg,
  'image/png': splicePng,
  'image/webp': spliceWebp,
};
