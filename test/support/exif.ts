/** EXIF blocks that no tool writes, with fields of any type and value in both byte orders, for insertion into JPEGs. */

/** Text or numbers; a rational is a pair of numbers. */
export type ExifValue = string | readonly number[] | readonly (readonly [number, number])[];
export type ExifFields = Readonly<Record<number, readonly [type: number, value: ExifValue]>>;
export type ExifSource = {
  order?: 'II' | 'MM';
  root?: ExifFields;
  exposure?: ExifFields;
  place?: ExifFields;
};

const HEAD_BYTES = 8;
const EXPOSURE = 0x8769;
const PLACE = 0x8825;
const LONG = 4;
const widths: Readonly<Record<number, 1 | 2 | 4>> = { 1: 1, 2: 1, 3: 2, 6: 1, 7: 1 };

export function printExif({ order = 'MM', root = {}, exposure, place }: ExifSource): Buffer {
  const children = [
    ...(exposure ? [[EXPOSURE, exposure] as const] : []),
    ...(place ? [[PLACE, place] as const] : []),
  ];
  const withPointers = (starts: readonly number[]): ExifFields => ({
    ...root,
    ...Object.fromEntries(children.map(([tag], index) => [tag, [LONG, [starts[index] ?? 0]]])),
  });
  let at = HEAD_BYTES + printDirectory(order, withPointers([]), 0).length;
  const starts: number[] = [];
  const bodies = children.map(([, fields]) => {
    starts.push(at);
    const body = printDirectory(order, fields, at);
    at += body.length;
    return body;
  });
  const head = Buffer.from(order === 'II' ? 'II*\0\x08\0\0\0' : 'MM\0*\0\0\0\x08', 'latin1');
  return Buffer.concat([head, printDirectory(order, withPointers(starts), HEAD_BYTES), ...bodies]);
}

function printDirectory(order: 'II' | 'MM', fields: ExifFields, start: number): Buffer {
  const rows = Object.entries(fields);
  const outside: Buffer[] = [];
  let free = start + 2 + rows.length * 12 + 4;
  const entries = rows.map(([tag, [type, value]]) => {
    const bytes = printValue(order, type, value);
    const isInside = bytes.length <= 4;
    const inside = isInside
      ? Buffer.concat([bytes, Buffer.alloc(4 - bytes.length)])
      : number(order, free, 4);
    const body = Buffer.concat([bytes, Buffer.alloc(bytes.length % 2)]);
    if (!isInside) free += outside.push(body) && body.length;
    const head = [number(order, Number(tag), 2), number(order, type, 2)];
    return Buffer.concat([...head, number(order, countOf(value), 4), inside]);
  });
  return Buffer.concat([number(order, rows.length, 2), ...entries, Buffer.alloc(4), ...outside]);
}

export function printValue(order: 'II' | 'MM', type: number, value: ExifValue): Buffer {
  if (typeof value === 'string') return Buffer.from(`${value}\0`, 'latin1');
  const numbers: readonly number[] = value.flat();
  return Buffer.concat(numbers.map((one) => number(order, one, widths[type] ?? 4)));
}

export function countOf(value: ExifValue): number {
  return typeof value === 'string' ? value.length + 1 : value.length;
}

function number(order: 'II' | 'MM', value: number, width: 1 | 2 | 4): Buffer {
  const bytes = Buffer.alloc(width);
  const unsigned = value < 0 ? value + 2 ** (8 * width) : value;
  if (order === 'II') bytes.writeUIntLE(unsigned, 0, width);
  else bytes.writeUIntBE(unsigned, 0, width);
  return bytes;
}

/** Inserts the EXIF block before all other segments of the JPEG. */
export function jpegWithExif(jpeg: Buffer, exif: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif]);
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([jpeg.subarray(0, 2), head, body, jpeg.subarray(2)]);
}
