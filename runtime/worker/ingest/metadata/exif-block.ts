/**
 * An EXIF block opened for reading: the directories of a small TIFF, or of a whole one, and their fields, within
 * bounds. Fields beyond the block are ignored.
 */

export type ExifField = {
  tag: number;
  type: number;
  count: number;
  /** In the block's byte order. */
  bytes: Buffer;
};

export type ExifDirectory = ReadonlyMap<number, ExifField>;

/** Little-endian, or big-endian. */
export type ByteOrder = 'II' | 'MM';

export type ExifBlock = {
  order: ByteOrder;
  /** The picture's own directory; the thumbnail's is never read. */
  root: ExifDirectory;
  /** The directory that a field points to. */
  follow(pointer: ExifField | undefined): ExifDirectory;
  u32(bytes: Buffer, at: number): number;
};

const PREFIX = 'Exif\0\0';
const HEAD_BYTES = 16;
const ENTRIES_MAX = 500;
/**
 * Bytes per value of each type: bytes, text, short, long, rational, their signed versions, floats,
 * a directory, the long types of BigTIFF, UTF-8.
 */
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
  16: 8,
  17: 8,
  18: 8,
  129: 1,
};

/** Undefined when it is not an EXIF block. */
export function openExif(exif: Buffer): ExifBlock | undefined {
  const block = withoutPrefix(exif);
  const order = block.toString('latin1', 0, 2);
  if ((order !== 'II' && order !== 'MM') || block.length < HEAD_BYTES) return undefined;
  const read = readerOf(order);
  const layout = layouts.find(({ magic }) => magic === read(block, 2, 2));
  if (layout === undefined) return undefined;
  const { offset, first } = layout;
  const directory = (at: number) => readDirectory({ block, read, layout }, at);
  return {
    order,
    root: directory(read(block, first, offset)),
    follow: (pointer) => directory(pointer === undefined ? block.length : placeIn(pointer, read)),
    u32: (bytes, at) => read(bytes, at, 4),
  };
}

/** Classic TIFF, and BigTIFF (only whole files). */
const layouts = [
  { magic: 42, first: 4, count: 2, offset: 4 },
  { magic: 43, first: 8, count: 8, offset: 8 },
] as const;

type Size = 2 | 4 | 8;
type Reader = (bytes: Buffer, at: number, size: Size) => number;
type Opened = { block: Buffer; read: Reader; layout: (typeof layouts)[number] };

function readerOf(order: ByteOrder): Reader {
  return (bytes, at, size) => {
    if (size < 8) return order === 'II' ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
    return Number(order === 'II' ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
  };
}

function readDirectory({ block, read, layout }: Opened, at: number): ExifDirectory {
  if (at + layout.count > block.length) return new Map();
  const count = Math.min(read(block, at, layout.count), ENTRIES_MAX);
  const entryBytes = 4 + 2 * layout.offset;
  const places = Array.from(
    { length: count },
    (_, index) => at + layout.count + index * entryBytes,
  );
  const fields = places.flatMap((place) => readField({ block, read, layout }, place));
  // Of repeated tags the first counts, as for other readers.
  return new Map(fields.toReversed().map((one) => [one.tag, one]));
}

function readField({ block, read, layout: { offset } }: Opened, at: number): ExifField[] {
  if (at + 4 + 2 * offset > block.length) return [];
  const [tag, type, count] = [
    read(block, at, 2),
    read(block, at + 2, 2),
    read(block, at + 4, offset),
  ];
  const length = (typeBytes[type] ?? 0) * count;
  const value = at + 4 + offset;
  const start = length <= offset ? value : read(block, value, offset);
  if (length === 0 || start + length > block.length) return [];
  return [{ tag, type, count, bytes: block.subarray(start, start + length) }];
}

/** Infinity, which is nowhere, when the field is not a pointer. */
function placeIn({ bytes }: ExifField, read: Reader): number {
  if (bytes.length === 4 || bytes.length === 8) return read(bytes, 0, bytes.length);
  return Number.POSITIVE_INFINITY;
}

/** Some containers keep the name that JPEG puts before the block. */
function withoutPrefix(exif: Buffer): Buffer {
  const isNamed = exif.toString('latin1', 0, PREFIX.length) === PREFIX;
  return isNamed ? exif.subarray(PREFIX.length) : exif;
}
