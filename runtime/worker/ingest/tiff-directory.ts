/** The directories of a TIFF file: tags and their numbers, in both byte orders, with short and long offsets. */
import { IngestRefusal } from './ingest-refusal.ts';

export type Tiff = {
  order: 'II' | 'MM';
  layout: Layout;
  /** Where the first directory is. */
  first: number;
  directory(at: number): Directory;
};

export type Directory = {
  /** The first of the tag's numbers; undefined where the tag is not there. */
  number(tag: number): number | undefined;
  /** The first few of them. */
  numbers(tag: number): number[];
  /** All of them, but none where there are more than could be. */
  allNumbers(tag: number, max: number): number[];
  /** Where the entry of each tag is. */
  entries: ReadonlyMap<number, number>;
  /** Where the next directory is, 0 after the last. */
  next: number;
};

const ENTRIES_MAX = 4096;
const NUMBERS_MAX = 8;
/** Bytes of one value of the types that are whole numbers: 8, 16, 32 and 64 bit. */
const typeBytes: Readonly<Record<number, 1 | 2 | 4 | 8>> = { 1: 1, 3: 2, 4: 4, 16: 8 };

type Reader = (at: number, size: 1 | 2 | 4 | 8) => number;
/** The sizes in which the two kinds of TIFF count: entries, offsets, and the bytes of one entry. */
export type Layout = { counter: 2 | 8; offset: 4 | 8; entry: 12 | 20 };

export function openTiff(bytes: Buffer): Tiff {
  const read = reader(bytes);
  const isBig = read(2, 2) === 43;
  const layout: Layout = isBig
    ? { counter: 8, offset: 8, entry: 20 }
    : { counter: 2, offset: 4, entry: 12 };
  return {
    order: bytes.toString('latin1', 0, 2) === 'II' ? 'II' : 'MM',
    layout,
    first: read(isBig ? 8 : 4, layout.offset),
    directory: (at) => readDirectory(read, layout, at),
  };
}

function readDirectory(read: Reader, layout: Layout, at: number): Directory {
  const count = read(at, layout.counter);
  if (count > ENTRIES_MAX) throw new IngestRefusal('decode_failed', 'TIFF: too many tags');
  const entries = new Map<number, number>();
  const start = at + layout.counter;
  for (let index = 0; index < count; index += 1) {
    const entry = start + index * layout.entry;
    entries.set(read(entry, 2), entry);
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
    next: read(start + count * layout.entry, layout.offset),
  };
}

/** Few and short ones stand in the entry itself. */
function readNumbers(
  read: Reader,
  { offset }: Layout,
  { entry, max }: { entry: number; max: number },
): number[] {
  const size = typeBytes[read(entry + 2, 2)];
  if (size === undefined) throw new IngestRefusal('decode_failed', 'TIFF: a tag without numbers');
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
