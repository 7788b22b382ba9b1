/**
 * Decodes a BMP to rows from the top, of 8-bit red, green, blue and, if a mask defines it, alpha. Strict: anything
 * outside its row, its palette or the file makes the whole image damaged.
 */
import { type BmpHeader, damaged, readBmpHeader, rowBytes } from './bmp-header.ts';
import { decodeRuns } from './bmp-runs.ts';

export type BmpPixels = { data: Buffer; width: number; height: number; channels: 3 | 4 };

/** Writes the pixels of one file row to the output, from position `start` on. */
type RowReader = (row: Buffer, out: Buffer, start: number) => void;

export function decodeBmp(bytes: Buffer): BmpPixels {
  const header = readBmpHeader(bytes);
  const { width, height, order } = header;
  const channels = header.masks[3] ? 4 : 3;
  const rows =
    header.coding === 'plain'
      ? { data: header.data, stride: rowBytes(header) }
      : { data: decodeRuns(header), stride: width };
  const readRow = rowReader(header);
  const data = Buffer.alloc(width * height * channels);
  for (let y = 0; y < height; y += 1) {
    const row = rows.data.subarray(y * rows.stride, (y + 1) * rows.stride);
    readRow(row, data, (order === 'top-down' ? y : height - 1 - y) * width * channels);
  }
  if (channels === 4 && isNowhereVisible(data)) fillAlpha(data);
  return { data, width, height, channels };
}

function rowReader(header: BmpHeader): RowReader {
  if (header.bits === 24) {
    return (row, out, start) => readTriples(row.subarray(0, header.width * 3), out, start);
  }
  if (header.bits > 8) return maskedReader(header);
  return paletteReader(header);
}

function readTriples(row: Buffer, out: Buffer, start: number): void {
  for (let at = 0; at < row.length; at += 3) {
    out[start + at] = row[at + 2] ?? 0;
    out[start + at + 1] = row[at + 1] ?? 0;
    out[start + at + 2] = row[at] ?? 0;
  }
}

/** Run lengths have already been unpacked to one byte per pixel. */
function paletteReader({ palette, width, bits, coding }: BmpHeader): RowReader {
  const depth = coding === 'plain' ? bits : 8;
  const perByte = 8 / depth;
  const mask = (1 << depth) - 1;
  const colors = Buffer.concat(palette.map((entry) => Buffer.from(entry).reverse()));
  return (row, out, start) => {
    for (let x = 0; x < width; x += 1) {
      const shift = 8 - depth * ((x % perByte) + 1);
      const index = ((row[Math.floor(x / perByte)] ?? 0) >> shift) & mask;
      if (index >= palette.length) throw damaged('a color that is not in the palette');
      const [at, color] = [start + x * 3, index * 3];
      out[at] = colors[color] ?? 0;
      out[at + 1] = colors[color + 1] ?? 0;
      out[at + 2] = colors[color + 2] ?? 0;
    }
  };
}

function maskedReader({ masks, bits, width }: BmpHeader): RowReader {
  const channels = (masks[3] ? masks : masks.slice(0, 3)).map(channelOf);
  const isWide = bits === 32;
  return (row, out, start) => {
    let at = start;
    for (let x = 0; x < width; x += 1) {
      const pixel = isWide ? row.readUInt32LE(x * 4) : row.readUInt16LE(x * 2);
      for (const { mask, shift, scale } of channels) {
        out[at] = Math.round(((pixel & mask) >>> shift) * scale);
        at += 1;
      }
    }
  };
}

/** How the bits under a mask are scaled to 0..255. */
function channelOf(mask: number) {
  if (mask === 0) return { mask, shift: 0, scale: 0 };
  const shift = 31 - Math.clz32(mask & -mask);
  return { mask, shift, scale: 255 / (mask >>> shift) };
}

/** Writers that do not support the alpha of their mask leave it zero. */
function isNowhereVisible(data: Buffer): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 0) return false;
  return true;
}

function fillAlpha(data: Buffer): void {
  for (let at = 3; at < data.length; at += 4) data[at] = 255;
}
