/**
 * Reads size, colors and quality of an AV1 still from its sequence header and the beginning of its frame header (AV1
 * bitstream specification, 5.5 and 5.9). Syntax that stills do not use is not parsed.
 */

export type Av1Frame = {
  width: number;
  height: number;
  /** An estimate; null when the header does not allow one. */
  quality: number | null;
  /** Undefined when not stated. */
  codes?: ColorCodes | undefined;
};

/** Code points of ITU-T H.273. */
type ColorCodes = { primaries: number; transfer: number };

type Read = (bits: number) => number;
type Sequence = {
  width: number;
  height: number;
  sizeBits: readonly [number, number];
  isReduced: boolean;
  idBits: number;
  superblock: 64 | 128;
  orderBits: number;
  /** 0 or 1 for all frames, 2 when each frame states it. */
  screenTools: number;
  integerMotion: number;
  hasSuperres: boolean;
  codes: ColorCodes | undefined;
};

const obu = { sequence: 1, frameHeader: 3, frame: 6 } as const;
const UNITS_MAX = 16;
const EACH_FRAME = 2;
const QUANTIZER_STEPS = 63;

export function readAv1Frame(bytes: Buffer): Av1Frame {
  let sequence: Sequence | undefined;
  for (const { type, body } of units(bytes)) {
    if (type === obu.sequence) sequence = readSequence(bitReader(body));
    if (sequence !== undefined && (type === obu.frame || type === obu.frameHeader)) {
      const { width, height, codes } = sequence;
      const quality = qualityOf(readQuantizer(bitReader(body), sequence));
      return { width, height, quality, codes };
    }
  }
  return { width: sequence?.width ?? 0, height: sequence?.height ?? 0, quality: null };
}

export function hasMoreFrames(bytes: Buffer, most: number): boolean {
  let frames = 0;
  for (const { type } of units(bytes, Number.POSITIVE_INFINITY)) {
    if (type === obu.frame || type === obu.frameHeader) frames += 1;
    if (frames > most) return true;
  }
  return false;
}

function* units(bytes: Buffer, most = UNITS_MAX): Generator<{ type: number; body: Buffer }> {
  let at = 0;
  for (let unit = 0; unit < most && at < bytes.length; unit += 1) {
    const head = bytes[at] ?? 0;
    at += (head & 0x04) === 0 ? 1 : 2;
    let length = bytes.length - at;
    if ((head & 0x02) !== 0) [length, at] = readLength(bytes, at);
    yield { type: (head >> 3) & 0x0f, body: bytes.subarray(at, at + length) };
    at += length;
  }
}

/**
 * Reads a LEB128 length (seven bits per byte, lowest first); returns it with the position behind
 * it.
 */
function readLength(bytes: Buffer, start: number): [number, number] {
  let length = 0;
  for (let index = 0; index < 8; index += 1) {
    const byte = bytes[start + index] ?? 0;
    length += (byte & 0x7f) * 128 ** index;
    if ((byte & 0x80) === 0) return [length, start + index + 1];
  }
  return [bytes.length, bytes.length];
}

function readSequence(read: Read): Sequence | undefined {
  const profile = read(3);
  read(1); // still picture
  const isReduced = read(1) === 1;
  if (isReduced) read(5);
  else if (!skipOperatingPoints(read)) return undefined;
  const sizeBits = [read(4) + 1, read(4) + 1] as const;
  const [width, height] = [read(sizeBits[0]) + 1, read(sizeBits[1]) + 1];
  const idBits = !isReduced && read(1) === 1 ? read(4) + 2 + read(3) + 1 : 0;
  const superblock = read(1) === 1 ? 128 : 64;
  read(1 + 1); // intra tools
  const tools = isReduced
    ? { orderBits: 0, screenTools: EACH_FRAME, integerMotion: EACH_FRAME }
    : readTools(read);
  const hasSuperres = read(1) === 1;
  read(1 + 1); // filters
  const codes = readColorCodes(read, profile);
  return { width, height, sizeBits, isReduced, idBits, superblock, ...tools, hasSuperres, codes };
}

const PROFILE_444 = 1;
const PROFILE_PROFESSIONAL = 2;

function readColorCodes(read: Read, profile: number): ColorCodes | undefined {
  const isDeep = read(1) === 1;
  if (isDeep && profile === PROFILE_PROFESSIONAL) read(1);
  if (profile !== PROFILE_444) read(1); // grey alone
  return read(1) === 1 ? { primaries: read(8), transfer: read(8) } : undefined;
}

/** False when there is timing information, as in videos. */
function skipOperatingPoints(read: Read): boolean {
  if (read(1) === 1) return false;
  const hasDelay = read(1) === 1;
  for (let left = read(5); left >= 0; left -= 1) {
    read(12);
    if (read(5) > 7) read(1);
    if (hasDelay && read(1) === 1) read(4);
  }
  return true;
}

function readTools(read: Read) {
  read(4); // tools between frames
  const hasOrder = read(1) === 1;
  if (hasOrder) read(2);
  const screenTools = read(1) === 1 ? EACH_FRAME : read(1);
  const integerMotion = screenTools === 0 || read(1) === 1 ? EACH_FRAME : read(1);
  return { screenTools, integerMotion, orderBits: hasOrder ? read(3) + 1 : 0 };
}

/** The quantizer of a shown key frame; NaN for any other frame. */
function readQuantizer(read: Read, sequence: Sequence): number {
  const { isReduced, screenTools, integerMotion } = sequence;
  // The frame must not repeat an existing one, and must be a shown key frame.
  if (!isReduced && read(1 + 2 + 1) !== 1) return Number.NaN;
  const keepsModel = read(1) === 1;
  const hasScreenTools = (screenTools === EACH_FRAME ? read(1) : screenTools) === 1;
  if (hasScreenTools && integerMotion === EACH_FRAME) read(1);
  read(sequence.idBits);
  const isOverridden = !isReduced && read(1) === 1;
  read(sequence.orderBits);
  const size = isOverridden
    ? { width: read(sequence.sizeBits[0]) + 1, height: read(sequence.sizeBits[1]) + 1 }
    : sequence;
  const isScaled = sequence.hasSuperres && read(1) === 1;
  if (isScaled) return Number.NaN;
  if (read(1) === 1) read(32);
  if (hasScreenTools) read(1);
  if (!isReduced && !keepsModel) read(1);
  return skipTiles(read, size, sequence.superblock) ? read(8) : Number.NaN;
}

/** False when the tiles differ in size. */
function skipTiles(read: Read, size: { width: number; height: number }, superblock: number) {
  const [columns, rows] = [size.width, size.height].map((side) =>
    Math.ceil((Math.ceil(side / 8) * 8) / superblock),
  ) as [number, number];
  if (read(1) === 0) return false;
  const least = log2Of(4096 / superblock, columns);
  const leastTiles = Math.max(least, log2Of((4096 * 2304) / superblock ** 2, rows * columns));
  const across = readSteps(read, least, log2Of(1, Math.min(columns, 64)));
  const down = readSteps(read, Math.max(leastTiles - across, 0), log2Of(1, Math.min(rows, 64)));
  if (across + down > 0) read(across + down + 2);
  return true;
}

/** The smallest power of two that, times the unit, covers the length. */
function log2Of(unit: number, length: number): number {
  let power = 0;
  while (unit * 2 ** power < length) power += 1;
  return power;
}

function readSteps(read: Read, least: number, most: number): number {
  let steps = least;
  while (steps < most && read(1) === 1) steps += 1;
  return steps;
}

/** Encoders map quality 0..100 to 63 steps of four. */
function qualityOf(quantizer: number): number | null {
  if (Number.isNaN(quantizer)) return null;
  return Math.min(Math.max(Math.round(100 - (quantizer / 4 / QUANTIZER_STEPS) * 100), 1), 100);
}

/** Most significant bit first; zeros beyond the end. */
function bitReader(bytes: Buffer): Read {
  let at = 0;
  return (bits) => {
    let value = 0;
    for (let left = bits; left > 0; left -= 1) {
      value = value * 2 + (((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1);
      at += 1;
    }
    return value;
  };
}
