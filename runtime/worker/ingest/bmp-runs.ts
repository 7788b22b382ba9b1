/** Unpacks the run lengths of a BMP with 8 or 4 bits to one byte per pixel, rows in file order. */
import { type BmpHeader, damaged, rowBytes } from './bmp-header.ts';

const control = { rowEnd: 0, end: 1, move: 2 } as const;

/** Some writers also encode a row's padding: `room` includes it, but it is not stored. */
type Canvas = {
  pixels: Buffer;
  width: number;
  height: number;
  room: number;
  x: number;
  y: number;
};

export function decodeRuns(header: BmpHeader): Buffer {
  const { data, width, height, coding } = header;
  const room = (rowBytes(header) * 8) / header.bits;
  const canvas = { pixels: Buffer.alloc(width * height), width, height, room, x: 0, y: 0 };
  const isNibbles = coding === 'rle4';
  let at = 0;
  while (!isFull(canvas) || at < data.length) {
    const [count, value] = [data.readUInt8(at), data.readUInt8(at + 1)];
    at += 2;
    if (count > 0) {
      write(canvas, count, isNibbles ? (index) => nibble(value, index) : () => value);
    } else if (value === control.rowEnd) {
      moveTo(canvas, 0, canvas.y + 1);
    } else if (value === control.end) {
      break;
    } else if (value === control.move) {
      moveTo(canvas, canvas.x + data.readUInt8(at), canvas.y + data.readUInt8(at + 1));
      at += 2;
    } else {
      at += writeLiterally(canvas, data.subarray(at), { count: value, coding });
    }
  }
  return canvas.pixels;
}

/** Files may omit the end marker once every pixel is there. */
function isFull({ x, y, width, height }: Canvas): boolean {
  return y >= height || (y === height - 1 && x >= width);
}

function write(canvas: Canvas, count: number, valueAt: (index: number) => number): void {
  const { pixels, width, height, room, x, y } = canvas;
  if (y >= height || x + count > room) throw damaged('a run leaves its row');
  const kept = Math.min(count, width - x);
  for (let index = 0; index < kept; index += 1) pixels[y * width + x + index] = valueAt(index);
  canvas.x += count;
}

/** Returns the number of bytes read, a multiple of two. */
function writeLiterally(
  canvas: Canvas,
  from: Buffer,
  { count, coding }: { count: number; coding: BmpHeader['coding'] },
): number {
  const isNibbles = coding === 'rle4';
  const length = isNibbles ? Math.ceil(count / 2) : count;
  if (length > from.length) throw damaged('it is cut short');
  write(canvas, count, (index) => {
    const value = from[isNibbles ? index >> 1 : index] ?? 0;
    return isNibbles ? nibble(value, index) : value;
  });
  return length + (length % 2);
}

/** The first of two pixels is in the upper half. */
function nibble(value: number, index: number): number {
  return index % 2 === 0 ? value >> 4 : value & 0x0f;
}

function moveTo(canvas: Canvas, x: number, y: number): void {
  if (x > canvas.room || y > canvas.height) throw damaged('a move leaves the picture');
  canvas.x = x;
  canvas.y = y;
}
