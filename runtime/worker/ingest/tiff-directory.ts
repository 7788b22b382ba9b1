/** The directories of a TIFF file: tags and their numbers, in both byte orders, with short and long offsets. */
import { IngestRefusal } from './ingest-refusal.ts';

export type Tiff = {
  order: 'II' | 'MM';
  layout: Layout;
  /** The offset of the first directory. */
  first: number;
  directory(at: number): Directory;
};

export type Directory = {
  /** The first of the tag's numbers; undefined when the tag is missing. */
  number(tag: number): number | undefined;
  /** The first few numbers of the tag. */
  numbers(tag: number): number[];
  /** All numbers of the tag; empty when there are more than `max`. */
  allNumbers(tag: number, max: number): number[];
  /** The offset of each tag's entry. */
  entries: ReadonlyMap<number, number>;
  /** Bytes of the tags' values that are stored outside the directory. */
  value_bytes: number;
  /** The offset of the next directory, 0 after the last. */
  next: number;
};

/** Images have some dozens. The decoder's library takes seconds for thousands of unknown tags. */
const ENTRIES_MAX = 512;
/** Each tag is read separately: bytes to which many tags point are read again and again. */
const VALUES_OF_FILE_MAX = 2;
const NUMBERS_MAX = 8;
/** Bytes per value of the integer types: 8, 16, 32 and 64 bit. */
const typeBytes: Readonly<Record<number, 1 | 2 | 4 | 8>> = { 1: 1, 3: 2, 4: 4, 16: 8 };
/** Bytes per value of all types, by type number; 0 for a type that does not exist. */
const VALUE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8];

type Reader = (at: number, size: 1 | 2 | 4 | 8) => number;
/** The sizes of the two kinds of TIFF: of entry counts, of offsets, and of one entry, in bytes. */
export type Layout = { counter: 2 | 8; offset: 4 | 8; entry: 12 | 20 };

export function openTiff(bytes: Buffer): Tiff {
  const read = reader(bytes);
  const isBig = read(2, 2) === 43;
  const layout: Layout = isBig
    ? { counter: 8, offset: 8, entry: 20 }
    : { counter: 2, offset: 4, entry: 12 };
  let valueBytes = 0;
  return {
    order: bytes.toString('latin1', 0, 2) === 'II' ? 'II' : 'MM',
    layout,
    first: read(isBig ? 8 : 4, layout.offset),
    directory: (at) => {
      const directory = readDirectory(read, layout, { at, end: bytes.length });
      valueBytes += directory.value_bytes;
      if (valueBytes > bytes.length * VALUES_OF_FILE_MAX) throw damaged('tags that say too much');
      return directory;
    },
  };
}

function readDirectory(
  read: Reader,
  layout: Layout,
  { at, end }: { at: number; end: number },
): Directory {
  const count = read(at, layout.counter);
  if (count > ENTRIES_MAX) throw damaged('too many tags');
  const entries = new Map<number, number>();
  const start = at + layout.counter;
  let valueBytes = 0;
  for (let index = 0; index < count; index += 1) {
    const entry = start + index * layout.entry;
    entries.set(read(entry, 2), entry);
    valueBytes += valueLength(read, layout, { entry, end });
  }
  const upTo = (tag: number, max: number) => {
    const entry = entries.get(tag);
    return entry === undefined ? [] : readNumbers(read, layout, { entry, max });
  };
  const numbers = (tag: number) => upTo(tag, NUMBERS_MAX);
  const allNumbers = (tag: number, max: number) => {
    const all = upTo(tag, max + 1);
    return all.length > max ? [] : all;
  };
  return {
    numbers,
    allNumbers,
    entries,
    number: (tag) => numbers(tag)[0],
    value_bytes: valueBytes,
    next: read(start + count * layout.entry, layout.offset),
  };
}

/** 0 when the value is in the entry itself, or leaves the file and so is never read. */
function valueLength(
  read: Reader,
  { offset }: Layout,
  { entry, end }: { entry: number; end: number },
): number {
  const length = read(entry + 4, offset) * (VALUE_BYTES[read(entry + 2, 2)] ?? 0);
  return length > offset && read(entry + 4 + offset, offset) + length <= end ? length : 0;
}

/** Short values are in the entry itself. */
function readNumbers(
  read: Reader,
  { offset }: Layout,
  { entry, max }: { entry: number; max: number },
): number[] {
  const size = typeBytes[read(entry + 2, 2)];
  if (size === undefined) throw damaged('a tag without numbers');
  const count = read(entry + 4, offset);
  const value = entry + 4 + offset;
  const start = count * size <= offset ? value : read(value, offset);
  const wanted = Math.min(count, max);
  return Array.from({ length: wanted }, (_, index) => read(start + index * size, size));
}

function reader(bytes: Buffer): Reader {
  const isLittle = bytes.toString('latin1', 0, 2) === 'II';
  return (at, size) => {
    if (size === 8) return Number(isLittle ? bytes.readBigUInt64LE(at) : bytes.readBigUInt64BE(at));
    return isLittle ? bytes.readUIntLE(at, size) : bytes.readUIntBE(at, size);
  };
}

export function damaged(detail: string): IngestRefusal {
  return new IngestRefusal('decode_failed', `TIFF: ${detail}`);
}
