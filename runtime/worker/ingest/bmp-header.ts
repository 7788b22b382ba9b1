/**
 * The headers of a BMP file: OS/2 and Windows, versions 1 to 5. Everything that determines memory or time is bounded
 * here, before anything is allocated; our decoder accepts only what these tables contain.
 */
import { BMP_PIXELS_MAX } from '../../core/limits.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import { judgeIccProfile } from './metadata/icc-profile.ts';

export type BmpHeader = {
  width: number;
  height: number;
  order: 'bottom-up' | 'top-down';
  bits: 1 | 4 | 8 | 16 | 24 | 32;
  coding: 'plain' | 'rle4' | 'rle8';
  /** For 16 and 32 bits: the bits of a pixel that belong to red, green, blue and alpha. */
  masks: readonly number[];
  /** For at most 8 bits: blue, green, red, as in the file. */
  palette: readonly Buffer[];
  /** The file from its first pixel on. */
  data: Buffer;
};

const FILE_HEADER_BYTES = 14;
const CORE_BYTES = 12;
const INFO_BYTES = 40;
const V2_BYTES = 52;
const V3_BYTES = 56;
const OS2_BYTES = 64;
const V5_BYTES = 124;
const MASKS_AT = FILE_HEADER_BYTES + INFO_BYTES;
const ALPHA_AT = MASKS_AT + 12;

const compressions = { plain: 0, rle8: 1, rle4: 2, masks: 3, masksWithAlpha: 6 } as const;
const depths = [1, 4, 8, 16, 24, 32] as const;
const usualMasks: Readonly<Record<number, readonly number[]>> = {
  16: [0x7c00, 0x03e0, 0x001f, 0],
  32: [0xff0000, 0x00ff00, 0x0000ff, 0],
};
/** The color space types for a profile in another file, and for an embedded profile. */
const [LINKED, EMBEDDED] = [0x4c494e4b, 0x4d424544];

export function readBmpHeader(bytes: Buffer): BmpHeader {
  const size = bytes.readUInt32LE(FILE_HEADER_BYTES);
  const shape = size === CORE_BYTES ? readCore(bytes) : readInfo(bytes, size);
  refuseSize(shape);
  const bits = depths.find((depth) => depth === shape.bits);
  if (bits === undefined) throw unsupported(`${shape.bits} bits`);
  const coding = codingOf(shape.compression, bits);
  if (coding !== 'plain' && shape.order === 'top-down') throw damaged('run lengths from the top');
  if (size >= V5_BYTES) refuseProfile(bytes);
  const { masks, bytesAfter } = readMasks(bytes, { size, bits, compression: shape.compression });
  const dataAt = bytes.readUInt32LE(10);
  const paletteAt = FILE_HEADER_BYTES + size + bytesAfter;
  if (dataAt < paletteAt || dataAt > bytes.length) throw damaged('pixels outside of the file');
  const entryBytes = size === CORE_BYTES ? 3 : 4;
  const palette =
    bits > 8 ? [] : readPalette(bytes.subarray(paletteAt, dataAt), entryBytes, shape.colors);
  const { width, height, order } = shape;
  const header = { width, height, order, bits, coding, masks, palette };
  return { ...header, data: wholeData(bytes.subarray(dataAt), header) };
}

/** The bytes of one row, padded to a multiple of four. */
export function rowBytes({ width, bits }: Pick<BmpHeader, 'width' | 'bits'>): number {
  return Math.ceil((width * bits) / 32) * 4;
}

type Shape = Pick<BmpHeader, 'width' | 'height' | 'order'> & {
  bits: number;
  compression: number;
  colors: number;
};

function readCore(bytes: Buffer): Shape {
  const [width, height] = [bytes.readUInt16LE(18), bytes.readUInt16LE(20)];
  const bits = bytes.readUInt16LE(24);
  if (bytes.readUInt16LE(22) !== 1) throw damaged('more than one plane');
  return { width, height, order: 'bottom-up', bits, compression: 0, colors: 0 };
}

/** The shortest header of OS/2 version 2 ends before the compression field. */
function readInfo(bytes: Buffer, size: number): Shape {
  const [width, height] = [bytes.readInt32LE(18), bytes.readInt32LE(22)];
  if (bytes.readUInt16LE(26) !== 1) throw damaged('more than one plane');
  const isShort = size < INFO_BYTES;
  const compression = isShort ? 0 : bytes.readUInt32LE(30);
  if (size === OS2_BYTES && compression > compressions.rle4) {
    throw unsupported(`compression ${compression} of OS/2`);
  }
  return {
    width,
    height: Math.abs(height),
    order: height < 0 ? 'top-down' : 'bottom-up',
    bits: bytes.readUInt16LE(28),
    compression,
    colors: isShort ? 0 : bytes.readUInt32LE(46),
  };
}

function refuseSize({ width, height }: Shape): void {
  if (width <= 0 || height === 0) throw damaged('no size');
  if (width * height > BMP_PIXELS_MAX) {
    throw new IngestRefusal('image_too_large', `BMP: ${width}x${height}`);
  }
}

function codingOf(compression: number, bits: BmpHeader['bits']): BmpHeader['coding'] {
  if (compression === compressions.plain) return 'plain';
  if (compression === compressions.rle8 && bits === 8) return 'rle8';
  if (compression === compressions.rle4 && bits === 4) return 'rle4';
  const hasMasks =
    compression === compressions.masks || compression === compressions.masksWithAlpha;
  if (hasMasks && (bits === 16 || bits === 32)) return 'plain';
  throw unsupported(`compression ${compression} of ${bits} bits`);
}

/** From version 2 on the masks are part of the header; before that they follow it. */
function readMasks(
  bytes: Buffer,
  { size, bits, compression }: { size: number; bits: BmpHeader['bits']; compression: number },
): { masks: readonly number[]; bytesAfter: number } {
  const usual = { masks: usualMasks[bits] ?? [], bytesAfter: 0 };
  if (compression !== compressions.masks && compression !== compressions.masksWithAlpha) {
    return usual;
  }
  const hasAlpha = compression === compressions.masksWithAlpha || size >= V3_BYTES;
  const colors = [0, 4, 8].map((at) => bytes.readUInt32LE(MASKS_AT + at));
  const masks = [...colors, hasAlpha ? bytes.readUInt32LE(ALPHA_AT) : 0];
  refuseMasks(masks, bits);
  const masksEnd = hasAlpha ? V3_BYTES : V2_BYTES;
  return { masks, bytesAfter: Math.max(0, masksEnd - size) };
}

function refuseMasks(masks: readonly number[], bits: number): void {
  let taken = 0;
  for (const mask of masks) {
    const lowest = mask & -mask;
    const isWhole = mask === 0 || Number.isInteger(Math.log2((mask >>> 0) / (lowest >>> 0) + 1));
    if (!isWhole || (taken & mask) !== 0) throw damaged('masks with holes or over one another');
    taken |= mask;
  }
  if (taken === 0 || (bits === 16 && taken >>> 16 !== 0)) throw damaged('masks of no color');
}

function readPalette(room: Buffer, entryBytes: number, colors: number): Buffer[] {
  if (colors > 256) throw damaged('more colors than a pixel can name');
  const most = colors === 0 ? 256 : colors;
  const count = Math.min(most, Math.floor(room.length / entryBytes));
  return Array.from({ length: count }, (_, index) =>
    room.subarray(index * entryBytes, index * entryBytes + 3),
  );
}

function wholeData(data: Buffer, header: Omit<BmpHeader, 'data'>): Buffer {
  const { width, height, bits, coding } = header;
  const lastRow = Math.ceil((width * bits) / 8);
  const needed = coding === 'plain' ? rowBytes(header) * (height - 1) + lastRow : 2;
  if (data.length < needed) throw damaged('it is cut short');
  return data;
}

/** Refuses pixels in color spaces other than sRGB: no reader here converts them. */
function refuseProfile(bytes: Buffer): void {
  const space = bytes.readUInt32LE(70);
  if (space === LINKED) throw unsupported('a color profile elsewhere');
  if (space !== EMBEDDED) return;
  const start = FILE_HEADER_BYTES + bytes.readUInt32LE(126);
  const profile = bytes.subarray(start, start + bytes.readUInt32LE(130));
  if (judgeIccProfile(profile, 'rgb') === 'other') throw unsupported('a color profile of its own');
}

export function damaged(detail: string): IngestRefusal {
  return new IngestRefusal('decode_failed', `BMP: ${detail}`);
}

function unsupported(detail: string): IngestRefusal {
  return new IngestRefusal('unsupported_media_type', `BMP: ${detail}`);
}
