/** Encodes BMP files with every header version and bit depth, including run-length encoding. */

export type BmpOptions = {
  /** In bytes: 12, 16, 40, 52, 56, 64, 108 or 124. */
  header?: number;
  bits: 1 | 4 | 8 | 16 | 24 | 32;
  /** Bit masks for red, green, blue and alpha. */
  masks?: readonly [number, number, number, number];
  order?: 'bottom-up' | 'top-down';
  /** RGB entries, for depths of at most 8 bits. */
  palette?: readonly (readonly [number, number, number])[];
  /** False values to write over the header, as integers of `size` bytes at file offset `at`. */
  lies?: readonly { at: number; size: 2 | 4; value: number }[];
};

export type Bits = { width: number; height: number; pixelAt(x: number, y: number): number };

/**
 * `pixelAt` returns the stored value: a palette index, a masked integer, or 0xrrggbb for 24 bits.
 */
export function printBmp(picture: Bits, options: BmpOptions): Buffer {
  const stride = Math.ceil((picture.width * options.bits) / 32) * 4;
  const rows = Buffer.alloc(stride * picture.height);
  for (let y = 0; y < picture.height; y += 1) {
    const row = options.order === 'top-down' ? y : picture.height - 1 - y;
    for (let x = 0; x < picture.width; x += 1) {
      const bits = { at: row * stride * 8 + x * options.bits, count: options.bits };
      writeBits(rows, bits, picture.pixelAt(x, y));
    }
  }
  return wrapBmp(picture, options, { rows, compression: options.masks ? 3 : 0 });
}

/** Builds a BMP file around arbitrary pixel data. */
export function wrapBmp(
  { width, height }: { width: number; height: number },
  { header = 40, bits, masks, order, palette = [], lies = [] }: BmpOptions,
  { rows, compression }: { rows: Buffer; compression: number },
): Buffer {
  const info = Buffer.alloc(header);
  info.writeUInt32LE(header, 0);
  if (header === 12) {
    for (const [index, value] of [width, height, 1, bits].entries()) {
      info.writeUInt16LE(value, 4 + index * 2);
    }
  } else {
    info.writeInt32LE(width, 4);
    info.writeInt32LE(order === 'top-down' ? -height : height, 8);
    info.writeUInt16LE(1, 12);
    info.writeUInt16LE(bits, 14);
    if (header >= 40) info.writeUInt32LE(compression, 16);
    if (header >= 40) info.writeUInt32LE(palette.length === 1 << bits ? 0 : palette.length, 32);
  }
  const fields = Buffer.alloc(16);
  for (const [index, mask] of (masks ?? []).entries()) fields.writeUInt32LE(mask, index * 4);
  if (header > 40 && masks) fields.copy(info, 40, 0, Math.min(16, header - 40));
  const after = header === 40 && masks ? fields.subarray(0, compression === 6 ? 16 : 12) : '';
  const colors = palette.map(([r, g, b]) => (header === 12 ? [b, g, r] : [b, g, r, 0]));
  const start = Buffer.concat([info, Buffer.from(after), Buffer.from(colors.flat())]);
  const file = Buffer.concat([Buffer.alloc(14), start, rows]);
  file.write('BM', 0);
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(14 + start.length, 10);
  for (const { at, size, value } of lies) file.writeUIntLE(value, at, size);
  return file;
}

/** Less than a byte is written from the most significant bit; whole bytes are little-endian. */
function writeBits(rows: Buffer, { at, count }: { at: number; count: number }, value: number) {
  if (count >= 8) {
    rows.writeUIntLE(value >>> 0, at / 8, count / 8);
    return;
  }
  const byte = Math.floor(at / 8);
  rows[byte] = (rows[byte] ?? 0) | (value << (8 - count - (at % 8)));
}

/**
 * Encodes each row with runs, literal stretches where no value repeats, and delta moves over zeros.
 */
export function runLengths({ width, height, pixelAt }: Bits, { bits }: { bits: 4 | 8 }): Buffer {
  const parts: number[] = [];
  for (let y = height - 1; y >= 0; y -= 1) {
    const row = Array.from({ length: width }, (_, x) => pixelAt(x, y));
    parts.push(...rowRuns(row, bits), 0, 0);
  }
  return Buffer.from([...parts.slice(0, -2), 0, 1]);
}

function rowRuns(row: readonly number[], bits: 4 | 8): number[] {
  const parts: number[] = [];
  let x = 0;
  while (x < row.length) {
    const value = row[x] ?? 0;
    let end = x;
    while (end < row.length && row[end] === value && end - x < 255) end += 1;
    const literal = row.slice(x, Math.min(row.length, x + 7));
    const isLiteral = end - x < 2 && literal.length >= 3;
    if (value === 0 && end - x > 3) parts.push(0, 2, end - x, 0);
    else if (isLiteral) parts.push(0, literal.length, ...packed(literal, bits));
    else parts.push(end - x, bits === 4 ? value * 17 : value);
    x = isLiteral ? x + literal.length : end;
  }
  return parts;
}

function packed(values: readonly number[], bits: 4 | 8): number[] {
  const bytes: number[] = [];
  if (bits === 8) bytes.push(...values);
  else {
    for (let at = 0; at < values.length; at += 2) {
      bytes.push(((values[at] ?? 0) << 4) | (values[at + 1] ?? 0));
    }
  }
  return bytes.length % 2 === 0 ? bytes : [...bytes, 0];
}
