/**
 * The memory for the code tables of a lossless WebP, or of a lossy one's alpha: an image may have a set of five codes
 * for each block of sixteen pixels, which takes twenty bits in the file and ten kilobytes in its decoder. Only the data
 * before the pixels is read. The format: RFC 9649, 3.4 to 3.7.
 */
type Size = { width: number; height: number };

/** The layout in the decoder's library: four bytes per entry, and more with a color cache. */
const tableBytes = (cacheBits: number) => 4 * (2954 + (cacheBits > 0 ? 2 ** cacheBits : 0)) + 600;
/** Up to this many sets, the library creates all possible ones, used or not. */
const SETS_MADE = 1000;

const transform = { predictor: 0, color: 1, palette: 3 } as const;
const LITERALS = 256;
const LENGTHS = 24;
const DISTANCES = 40;

/**
 * `stream`: the bytes behind the size header. Returns 0 for a damaged stream, which a decoder
 * rejects.
 */
export function codeTableBytes(stream: Buffer, size: Size): number {
  try {
    return readTableBytes(stream, size);
  } catch (error) {
    if (error instanceof RangeError) return 0;
    throw error;
  }
}

function readTableBytes(stream: Buffer, { width, height }: Size): number {
  const read = bitReader(stream);
  const seen = new Set<number>();
  let across = width;
  while (read(1) === 1) {
    const kind = read(2);
    if (seen.has(kind)) throw new RangeError('a change that comes twice');
    seen.add(kind);
    if (kind === transform.predictor || kind === transform.color) {
      readImage(read, blocksOf({ width: across, height }, read(3) + 2));
    } else if (kind === transform.palette) {
      const colors = read(8) + 1;
      readImage(read, { width: colors, height: 1 });
      const together = colors <= 2 ? 8 : colors <= 4 ? 4 : colors <= 16 ? 2 : 1;
      across = Math.ceil(across / together);
    }
  }
  const cacheBits = readCacheBits(read);
  if (read(1) === 0) return tableBytes(cacheBits);
  const sets = readImage(read, blocksOf({ width: across, height }, read(3) + 2));
  const most = [...sets].reduce((largest, set) => Math.max(largest, set), 0) + 1;
  return Math.max(sets.size, Math.min(most, SETS_MADE)) * tableBytes(cacheBits);
}

function blocksOf({ width, height }: Size, bits: number): Size {
  return { width: Math.ceil(width / 2 ** bits), height: Math.ceil(height / 2 ** bits) };
}

type Read = (bits: number) => number;
type Code = () => number;

function readCacheBits(read: Read): number {
  return read(1) === 1 ? read(4) : 0;
}

/**
 * The numbers in the red and green channels. Back references and the color cache only repeat
 * earlier numbers or zero.
 */
function readImage(read: Read, { width, height }: Size): ReadonlySet<number> {
  const cacheBits = readCacheBits(read);
  const greens = LITERALS + LENGTHS + (cacheBits > 0 ? 2 ** cacheBits : 0);
  const green = readCode(read, greens);
  const red = readCode(read, LITERALS);
  const blue = readCode(read, LITERALS);
  const alpha = readCode(read, LITERALS);
  const distance = readCode(read, DISTANCES);
  const numbers = new Set([0]);
  for (let at = 0; at < width * height; ) {
    const symbol = green();
    if (symbol < LITERALS) {
      numbers.add((red() << 8) | symbol);
      blue();
      alpha();
      at += 1;
    } else if (symbol < LITERALS + LENGTHS) {
      at += readLength(read, symbol - LITERALS);
      readLength(read, distance());
    } else {
      at += 1;
    }
  }
  return numbers;
}

function readLength(read: Read, symbol: number): number {
  if (symbol < 4) return symbol + 1;
  const extra = (symbol - 2) >> 1;
  return (2 + (symbol & 1)) * 2 ** extra + read(extra) + 1;
}

function readCode(read: Read, symbols: number): Code {
  return decoderOf(read, read(1) === 1 ? readSimple(read) : readLengths(read, symbols));
}

/** A code of one symbol or two. */
function readSimple(read: Read): Uint8Array {
  const isPair = read(1) === 1;
  const lengths = new Uint8Array(LITERALS);
  lengths[read(read(1) === 1 ? 8 : 1)] = 1;
  if (isPair) lengths[read(8)] = 1;
  return lengths;
}

const LENGTH_ORDER = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const REPEAT = 16;
const ZEROS = 17;

function readLengths(read: Read, symbols: number): Uint8Array {
  const lengthsOfLengths = new Uint8Array(LENGTH_ORDER.length);
  for (const place of LENGTH_ORDER.slice(0, read(4) + 4)) lengthsOfLengths[place] = read(3);
  const next = decoderOf(read, lengthsOfLengths);
  let left = read(1) === 1 ? read(2 + 2 * read(3)) + 2 : symbols;
  const lengths = new Uint8Array(symbols);
  let before = 8;
  for (let at = 0; at < symbols && left > 0; left -= 1) {
    const length = next();
    if (length < REPEAT) {
      lengths[at] = length;
      if (length > 0) before = length;
      at += 1;
    } else {
      const isLong = length > ZEROS;
      const count = length === REPEAT ? read(2) + 3 : isLong ? read(7) + 11 : read(3) + 3;
      if (at + count > symbols) throw new RangeError('codes for more than there is');
      if (length === REPEAT) lengths.fill(before, at, at + count);
      at += count;
    }
  }
  return lengths;
}

const LENGTH_MAX = 15;

/** Canonical codes: the codes of each length follow one another. */
function decoderOf(read: Read, lengths: Uint8Array): Code {
  const counts = new Uint16Array(LENGTH_MAX + 1);
  const sorted: number[] = [];
  for (let length = 1; length <= LENGTH_MAX; length += 1) {
    for (let symbol = 0; symbol < lengths.length; symbol += 1) {
      if (lengths[symbol] === length) sorted.push(symbol);
    }
    counts[length] = sorted.length;
  }
  const [only] = sorted;
  if (only === undefined) throw new RangeError('a code of nothing');
  // A single symbol takes no bits.
  if (sorted.length === 1) return () => only;
  return () => {
    let [code, first, before] = [0, 0, 0];
    for (let length = 1; length <= LENGTH_MAX; length += 1) {
      const count = (counts[length] ?? 0) - before;
      code = code * 2 + read(1);
      if (code - first < count) return sorted[before + code - first] ?? 0;
      first = (first + count) * 2;
      before += count;
    }
    throw new RangeError('no such code');
  };
}

/** Lowest bit first; zeros beyond the end. */
function bitReader(bytes: Buffer): Read {
  let at = 0;
  return (bits) => {
    let value = 0;
    for (let bit = 0; bit < bits; bit += 1) {
      value |= (((bytes[at >> 3] ?? 0) >> (at & 7)) & 1) << bit;
      at += 1;
    }
    return value;
  };
}
