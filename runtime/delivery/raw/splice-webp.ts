/** Rewrites a WebP in the extended form: flags and canvas, the profile before the picture, EXIF and XMP behind it. */
import type { MetadataBlocks, Splice, SplicedImage } from './splice.ts';

const RIFF_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;
const EXTENDED_BYTES = 10;
const flag = { icc: 0x20, alpha: 0x10, exif: 0x08, xmp: 0x04 } as const;

export function spliceWebp(image: SplicedImage, { exif, icc, xmp }: MetadataBlocks): Splice {
  const { head, size_bytes } = image;
  const isExtended = head.toString('latin1', RIFF_BYTES, RIFF_BYTES + 4) === 'VP8X';
  const from = RIFF_BYTES + (isExtended ? CHUNK_HEAD_BYTES + EXTENDED_BYTES : 0);
  const flags =
    (icc ? flag.icc : 0) |
    (exif ? flag.exif : 0) |
    (xmp ? flag.xmp : 0) |
    (image.has_alpha ? flag.alpha : 0);
  const front = Buffer.concat([
    chunk('VP8X', extended(image, flags)),
    ...(icc ? [chunk('ICCP', icc)] : []),
  ]);
  const behind = Buffer.concat([
    ...(exif ? [chunk('EXIF', exif)] : []),
    ...(xmp ? [chunk('XMP ', xmp)] : []),
  ]);
  const riff = Buffer.from(head.subarray(0, RIFF_BYTES));
  riff.writeUInt32LE(4 + front.length + (size_bytes - from) + behind.length, 4);
  return { before: Buffer.concat([riff, front]), from, behind };
}

/** Each side is stored minus one, in three bytes. */
function extended({ width, height }: SplicedImage, flags: number): Buffer {
  const body = Buffer.alloc(EXTENDED_BYTES);
  body.writeUInt8(flags, 0);
  body.writeUIntLE(width - 1, 4, 3);
  body.writeUIntLE(height - 1, 7, 3);
  return body;
}

/** Chunks are padded to an even length. */
function chunk(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(CHUNK_HEAD_BYTES);
  head.write(name, 'latin1');
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}
