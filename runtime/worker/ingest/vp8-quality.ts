/**
 * The quality that a lossy WebP was made with, from the quantiser index in its first partition's header
 * (RFC 6386, 9.2 to 9.6). An estimate: encoders spread the index over segments.
 */

const QUANTISER_MAX = 127;

export function vp8Quality(partition: Buffer): number | null {
  const index = quantiserIndex(bitReader(partition));
  if (index === undefined) return null;
  // Inverse of libwebp's mapping from quality to compression.
  const linear = (1 - index / QUANTISER_MAX) ** 3;
  const compression = linear < 0.5 ? linear * 1.5 : (linear + 1) / 2;
  return Math.min(Math.max(Math.round(compression * 100), 1), 100);
}

type Read = (bits: number) => number;

function quantiserIndex(read: Read): number | undefined {
  read(2); // colour space and clamping
  if (read(1) === 1) skipSegmentation(read);
  read(1 + 6 + 3); // loop filter: type, level, sharpness
  if (read(1) === 1 && read(1) === 1) skipOptional(read, { count: 8, bits: 7 });
  read(2); // partitions
  const index = read(7);
  return Number.isNaN(index) ? undefined : index;
}

function skipSegmentation(read: Read): void {
  const [hasMap, hasData] = [read(1), read(1)];
  if (hasData === 1) {
    read(1);
    skipOptional(read, { count: 4, bits: 8 });
    skipOptional(read, { count: 4, bits: 7 });
  }
  if (hasMap === 1) skipOptional(read, { count: 3, bits: 8 });
}

/** Values that are there only where a flag says so; their sign is counted in their bits. */
function skipOptional(read: Read, { count, bits }: { count: number; bits: number }): void {
  for (let index = 0; index < count; index += 1) if (read(1) === 1) read(bits);
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
