/**
 * Estimates the quality of a lossy WebP from the quantizer indices in the header of its first partition (RFC 6386, 9.2
 * to 9.6): the indices of the four segments are averaged.
 */

const QUANTIZER_MAX = 127;
const SEGMENTS = 4;

export function vp8Quality(partition: Buffer): number | null {
  const index = quantizerIndex(bitReader(partition));
  if (Number.isNaN(index)) return null;
  // The inverse of libwebp's mapping from quality to compression.
  const linear = (1 - Math.min(Math.max(index, 0), QUANTIZER_MAX) / QUANTIZER_MAX) ** 3;
  const compression = linear < 0.5 ? linear * 1.5 : (linear + 1) / 2;
  return Math.min(Math.max(Math.round(compression * 100), 1), 100);
}

type Read = (bits: number) => number;
type Segments = { is_absolute: boolean; mean: number };

function quantizerIndex(read: Read): number {
  read(2); // color space and clamping
  const segments = read(1) === 1 ? readSegments(read) : undefined;
  read(1 + 6 + 3); // loop filter: type, level, sharpness
  if (read(1) === 1 && read(1) === 1) readOptional(read, { count: 8, bits: 6 });
  read(2); // partitions
  const base = read(7);
  if (segments === undefined) return base;
  return segments.is_absolute ? segments.mean : base + segments.mean;
}

function readSegments(read: Read): Segments | undefined {
  const [hasMap, hasData] = [read(1), read(1)];
  let segments: Segments | undefined;
  if (hasData === 1) {
    const isAbsolute = read(1) === 1;
    const indices = readOptional(read, { count: SEGMENTS, bits: 7 });
    readOptional(read, { count: SEGMENTS, bits: 6 }); // loop filter levels
    const sum = indices.reduce((total, index) => total + index, 0);
    segments = { is_absolute: isAbsolute, mean: sum / SEGMENTS };
  }
  if (hasMap === 1) for (let index = 0; index < 3; index += 1) if (read(1) === 1) read(8);
  return segments;
}

/** Signed values, each preceded by a flag; 0 when its flag is not set. */
function readOptional(read: Read, { count, bits }: { count: number; bits: number }): number[] {
  return Array.from({ length: count }, () => {
    if (read(1) === 0) return 0;
    const value = read(bits);
    return read(1) === 1 ? -value : value;
  });
}

/** The boolean decoder at probability one half; NaN once the bytes are used up. */
function bitReader(bytes: Buffer): Read {
  let at = 0;
  const nextByte = () => bytes[at++] ?? Number.NaN;
  let value = nextByte() * 256 + nextByte();
  let range = 255;
  let shifted = 0;
  const shift = () => {
    value *= 2;
    range *= 2;
    shifted = (shifted + 1) % 8;
    if (shifted === 0) value += nextByte();
  };
  const readBit = () => {
    const split = 1 + ((range - 1) >> 1);
    const isSet = value >= split * 256;
    if (isSet) value -= split * 256;
    range = isSet ? range - split : split;
    while (range < 128) shift();
    return isSet ? 1 : 0;
  };
  return (bits) => {
    let result = 0;
    for (let index = 0; index < bits; index += 1) result = result * 2 + readBit();
    return Number.isNaN(value) ? Number.NaN : result;
  };
}
