/** Inserts APP1 and APP2 segments behind the first segment of a JPEG. */
import type { MetadataBlocks, Splice, SplicedImage } from './splice.ts';

const APP0 = 0xe0;
const APP1 = 0xe1;
const APP2 = 0xe2;
const MARKER_BYTES = 2;
const SEGMENT_BYTES_MAX = 65_533;
const EXIF_NAME = Buffer.from('Exif\0\0', 'latin1');
const XMP_NAME = Buffer.from('http://ns.adobe.com/xap/1.0/\0', 'latin1');
const ICC_NAME = Buffer.from('ICC_PROFILE\0', 'latin1');
/** Behind the name follow two bytes: the number of the piece, and the number of pieces. */
const ICC_PIECE_BYTES_MAX = SEGMENT_BYTES_MAX - ICC_NAME.length - 2;
const ICC_PIECES_MAX = 255;

export function spliceJpeg({ head }: SplicedImage, blocks: MetadataBlocks): Splice {
  const hasJfif = head[MARKER_BYTES] === 0xff && head[MARKER_BYTES + 1] === APP0;
  const from = hasJfif ? 2 * MARKER_BYTES + head.readUInt16BE(2 * MARKER_BYTES) : MARKER_BYTES;
  const segments = [
    ...(blocks.exif ? segment(APP1, EXIF_NAME, blocks.exif) : []),
    ...(blocks.xmp ? segment(APP1, XMP_NAME, blocks.xmp) : []),
    ...(blocks.icc ? iccSegments(blocks.icc) : []),
  ];
  const before = Buffer.concat([head.subarray(0, from), ...segments]);
  return { before, from, behind: Buffer.alloc(0) };
}

/** Empty when the content does not fit into one segment. */
function segment(marker: number, name: Buffer, content: Buffer): Buffer[] {
  const body = Buffer.concat([name, content]);
  if (body.length > SEGMENT_BYTES_MAX) return [];
  const begin = Buffer.from([0xff, marker, 0, 0]);
  begin.writeUInt16BE(body.length + MARKER_BYTES, MARKER_BYTES);
  return [begin, body];
}

function iccSegments(profile: Buffer): Buffer[] {
  const count = Math.ceil(profile.length / ICC_PIECE_BYTES_MAX);
  if (count > ICC_PIECES_MAX) return [];
  return Array.from({ length: count }, (_, index) => {
    const start = index * ICC_PIECE_BYTES_MAX;
    const piece = profile.subarray(start, start + ICC_PIECE_BYTES_MAX);
    return Buffer.concat(
      segment(APP2, ICC_NAME, Buffer.concat([Buffer.from([index + 1, count]), piece])),
    );
  });
}
