/**
 * An EXIF block opened for reading: the directories of a small TIFF and their fields, within bounds. What a
 * directory promises beyond its block is as if it were not there.
 */

export type ExifField = {
  tag: number;
  type: number;
  count: number;
  /** In the block's byte order. */
  bytes: Buffer;
};

export type ExifDirectory = ReadonlyMap<number, ExifField>;

/** Little end first, or big. */
export type ByteOrder = 'II' | 'MM';

export type ExifBlock = {
  order: ByteOrder;
  /** The picture's own directory; those of its thumbnail are never read. */
  root: ExifDirectory;
  /** The directory that a field points to. */
  follow(pointer: ExifField | undefined): ExifDirectory;
  u32(bytes: Buffer, at: number): number;
};

const PREFIX = 'Exif\0\0';
const MAGIC = 42;
const ENTRY_BYTES = 12;
const ENTRIES_MAX = 500;
const INLINE_BYTES = 4;
/** Of one value of each type: bytes, text, short, long, rational, their signed kin, floats, a directory, UTF-8. */
const typeBytes: Readonly<Record<number, number>> = {
  1: 1,
  2: 1,
  3: 2,
  4: 4,
  5: 8,
  6: 1,
  7: 1,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  129: 1,
};

/** Undefined where it is none. */
export function openExif(exif: Buffer): ExifBlock | undefined {
  const block = withoutPrefix(exif);
  const order = block.toString('latin1', 0, 2);
  if ((order !== 'II' && order !== 'MM') || block.length < 8) return undefined;
  const isLittle = order === 'II';
  const u16 = (at: number) => (isLittle ? block.readUInt16LE(at) : block.readUInt16BE(at));
  const u32 = (bytes: Buffer, at: number) =>
    isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
  if (u16(2) !== MAGIC) return undefined;
  const field = (at: number): ExifField[] => {
    if (at + ENTRY_BYTES > block.length) return [];
    const [tag, type, count] = [u16(at), u16(at + 2), u32(block, at + 4)];
    const length = (typeBytes[type] ?? 0) * count;
    const start = length <= INLINE_BYTES ? at + 8 : u32(block, at + 8);
    if (length === 0 || start + length > block.length) return [];
    return [{ tag, type, count, bytes: block.subarray(start, start + length) }];
  };
  const directory = (at: number): ExifDirectory => {
    if (at + 2 > block.length) return new Map();
    const places = Array.from({ length: Math.min(u16(at), ENTRIES_MAX) }, (_, index) => index);
    const fields = places.flatMap((index) => field(at + 2 + index * ENTRY_BYTES));
    // The first of a tag is the one that readers take.
    return new Map(fields.toReversed().map((one) => [one.tag, one]));
  };
  return {
    order,
    root: directory(u32(block, 4)),
    follow: (pointer) =>
      pointer?.bytes.length === 4 ? directory(u32(pointer.bytes, 0)) : new Map(),
    u32,
  };
}

/** Some containers keep the name that JPEG gives the block. */
function withoutPrefix(exif: Buffer): Buffer {
  const isNamed = exif.toString('latin1', 0, PREFIX.length) === PREFIX;
  return isNamed ? exif.subarray(PREFIX.length) : exif;
}
