/** A BigTIFF image with EXIF and GPS directories, which no available tool writes. */
import { countOf, type ExifFields, type ExifSource, printValue } from './exif.ts';
import { printTiff } from './tiff.ts';

const EXPOSURE = 0x8769;
const PLACE = 0x8825;
const OFFSET_BYTES = 8;
const ENTRY_BYTES = 20;
/** Large enough that offsets past the pixels do not fit into 16 bits. */
const [WIDTH, HEIGHT] = [160, 150];

export function printBigTiff({ order = 'II', exposure = {}, place = {} }: ExifSource): Buffer {
  const picture = (tags: Readonly<Record<number, readonly number[]>>) => {
    const strips = [Buffer.alloc(WIDTH * HEIGHT * 3, 99)];
    const page = { width: WIDTH, height: HEIGHT, samples: 3, strips, tags };
    return printTiff([page], { order, isBig: true });
  };
  const start = picture({ [EXPOSURE]: [100_000], [PLACE]: [100_000] }).length;
  const first = printDirectory(order, exposure, start);
  const second = printDirectory(order, place, start + first.length);
  const whole = picture({ [EXPOSURE]: [start], [PLACE]: [start + first.length] });
  return Buffer.concat([whole, first, second]);
}

function printDirectory(order: 'II' | 'MM', fields: ExifFields, start: number): Buffer {
  const rows = Object.entries(fields);
  let free = start + OFFSET_BYTES + rows.length * ENTRY_BYTES + OFFSET_BYTES;
  const outside: Buffer[] = [];
  const entries = rows.map(([tag, [type, value]]) => {
    const bytes = printValue(order, type, value);
    const isInside = bytes.length <= OFFSET_BYTES;
    const body = isInside
      ? Buffer.concat([bytes, Buffer.alloc(OFFSET_BYTES - bytes.length)])
      : number(order, free, OFFSET_BYTES);
    if (!isInside) {
      outside.push(bytes);
      free += bytes.length;
    }
    const head = [number(order, Number(tag), 2), number(order, type, 2)];
    return Buffer.concat([...head, number(order, countOf(value), OFFSET_BYTES), body]);
  });
  const end = Buffer.alloc(OFFSET_BYTES);
  return Buffer.concat([number(order, rows.length, OFFSET_BYTES), ...entries, end, ...outside]);
}

function number(order: 'II' | 'MM', value: number, width: 2 | 8): Buffer {
  const bytes = Buffer.alloc(width);
  if (width === 8) {
    if (order === 'II') bytes.writeBigUInt64LE(BigInt(value));
    else bytes.writeBigUInt64BE(BigInt(value));
  } else if (order === 'II') bytes.writeUInt16LE(value);
  else bytes.writeUInt16BE(value);
  return bytes;
}
