/**
 * Metadata put back into a stored image without encoding it anew: what goes before it, from which of its bytes on it
 * follows, and what goes behind it. Spec: Output rules 7.
 */
import { spliceJpeg } from './splice-jpeg.ts';
import { splicePng } from './splice-png.ts';
import { spliceWebp } from './splice-webp.ts';

/** Blocks as they were saved: EXIF without a name before it, a whole ICC profile, an XMP packet. */
export type MetadataBlocks = { exif?: Buffer; icc?: Buffer; xmp?: Buffer };

/** `head`: the first `HEAD_BYTES` of the image, or all of it. */
export type SplicedImage = {
  head: Buffer;
  size_bytes: number;
  width: number;
  height: number;
  has_alpha: boolean;
};

/** The bytes of the image from `from` on stand between the two. */
export type Splice = { before: Buffer; from: number; behind: Buffer };

/** As much of an image as a splice has to see. */
export const HEAD_BYTES = 64;

/** By stored type; the others have no place for metadata that can be written without an encoder. */
export const splices: Readonly<
  Record<string, (image: SplicedImage, blocks: MetadataBlocks) => Splice | Promise<Splice>>
> = {
  'image/jpeg': spliceJpeg,
  'image/png': splicePng,
  'image/webp': spliceWebp,
};
