/**
 * Rebuilds EXIF for a later raw download from what was read: known fields about the picture, its exposure and its
 * place, upright and with its present size. Thumbnails, maker notes (which cannot be checked) and anything between the
 * fields are dropped.
 */
import {
  type ByteOrder,
  type ExifBlock,
  type ExifDirectory,
  type ExifField,
  openExif,
} from './exif-block.ts';

export type PictureSize = { width: number; height: number };

/** The bare block, as PNG and WebP hold it; undefined when nothing is left. */
export function rebuildExif(exif: Buffer, size: PictureSize): Buffer | undefined {
  const block = openExif(exif);
  if (block === undefined) return undefined;
  const found = read(block, size);
  const count = found.root.length + found.exposure.length + found.place.length;
  return count === 0 ? undefined : print(block.order, found);
}

const tag = {
  orientation: 0x112,
  exposure: 0x8769,
  place: 0x8825,
  makerNote: 0x927c,
  pixelWidth: 0xa002,
  pixelHeight: 0xa003,
  interoperability: 0xa005,
} as const;

/** Facts about the picture, not about the file's byte layout or colors. */
const ROOT_TAGS: ReadonlySet<number> = new Set([
  // Description, make, model, orientation, resolution, software, time, artist, computer.
  0x10e, 0x10f, 0x110, 0x112, 0x11a, 0x11b, 0x128, 0x131, 0x132, 0x13b, 0x13c,
  // Position of halved colors, rating, copyright, and the Windows fields.
  0x213, 0x4746, 0x4749, 0x8298, 0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f,
]);
const EXPOSURE_RANGES = [
  [0x829a, 0x829d],
  [0x8822, 0x8835],
  [0x9000, 0x9fff],
  [0xa000, 0xa500],
] as const;
const PLACE_TAG_MAX = 0x1f;

const SHORT = 3;
const LONG = 4;
const UNDEFINED = 7;
const VALUE_BYTES_MAX = 16_384;
/** The limit of one JPEG segment, including the name. */
const BLOCK_BYTES_MAX = 65_000;
const HEAD_BYTES = 8;
const ENTRY_BYTES = 12;

type Written = Pick<ExifField, 'type' | 'count' | 'bytes'>;
type Found = { root: ExifField[]; exposure: ExifField[]; place: ExifField[] };

function read(block: ExifBlock, size: PictureSize): Found {
  const room = { bytes: BLOCK_BYTES_MAX };
  const number = (value: number, type = LONG) => printNumber(block.order, type, value);
  const now = new Map<number, Written>([
    [tag.orientation, number(1, SHORT)],
    [tag.pixelWidth, number(size.width)],
    [tag.pixelHeight, number(size.height)],
  ]);
  const take = (directory: ExifDirectory, isKnown: (tag: number) => boolean) =>
    [...directory.values()]
      .filter((field) => isKnown(field.tag) && isReadable(field))
      .map((field) => ({ ...field, ...now.get(field.tag) }))
      .toSorted((one, other) => one.tag - other.tag)
      .filter(({ bytes }) => {
        room.bytes -= ENTRY_BYTES + bytes.length + 1;
        return room.bytes > 0;
      });
  return {
    root: take(block.root, (one) => ROOT_TAGS.has(one)),
    exposure: take(block.follow(block.root.get(tag.exposure)), isOfExposure),
    place: take(block.follow(block.root.get(tag.place)), (one) => one <= PLACE_TAG_MAX),
  };
}

/** Texts that begin with the name of their character set; other names cannot be interpreted. */
const NAMED_TEXTS: ReadonlySet<number> = new Set([0x9286, 0x1b, 0x1c]);
const NAMES_BYTES = 8;
/**
 * A directory pointer, whose target would be elsewhere now, and numbers that a classic directory
 * cannot hold.
 */
const DROPPED_TYPES: ReadonlySet<number> = new Set([13, 16, 17, 18]);
const NAMES = /^(?:(?:ASCII)?(?:\0|[\0 ]+$)|UNICODE[\0 ]$|JIS[\0 ]{5}$)/;

function isReadable({ tag: one, type, bytes }: ExifField): boolean {
  if (bytes.length > VALUE_BYTES_MAX || DROPPED_TYPES.has(type)) return false;
  const isNamed = NAMED_TEXTS.has(one) && type === UNDEFINED && bytes.length >= NAMES_BYTES;
  return !isNamed || NAMES.test(bytes.toString('latin1', 0, NAMES_BYTES));
}

const NOT_OF_EXPOSURE: ReadonlySet<number> = new Set([
  tag.makerNote,
  tag.place,
  tag.interoperability,
]);

function isOfExposure(one: number): boolean {
  if (NOT_OF_EXPOSURE.has(one)) return false;
  return EXPOSURE_RANGES.some(([first, last]) => one >= first && one <= last);
}

function printNumber(order: ByteOrder, type: number, value: number): Written {
  const bytes = Buffer.alloc(type === SHORT ? 2 : 4);
  if (order === 'II') bytes.writeUIntLE(value, 0, bytes.length);
  else bytes.writeUIntBE(value, 0, bytes.length);
  return { type, count: 1, bytes };
}

/**
 * The head, then each directory followed by its values; the root is printed last, because it needs
 * the positions of the others.
 */
function print(order: ByteOrder, { root, exposure, place }: Found): Buffer {
  const pointers = [
    ...(exposure.length > 0 ? [{ tag: tag.exposure as number, fields: exposure }] : []),
    ...(place.length > 0 ? [{ tag: tag.place as number, fields: place }] : []),
  ];
  let at = HEAD_BYTES + sizeOf(root.length + pointers.length, root);
  const children = pointers.map((pointer) => {
    const start = at;
    at += sizeOf(pointer.fields.length, pointer.fields);
    const field = { tag: pointer.tag, ...printNumber(order, LONG, start) };
    return { field, bytes: printDirectory(order, pointer.fields, start) };
  });
  const fields = [...root, ...children.map(({ field }) => field)].toSorted(
    (one, other) => one.tag - other.tag,
  );
  const head = Buffer.from(order === 'II' ? 'II*\0\x08\0\0\0' : 'MM\0*\0\0\0\x08', 'latin1');
  const bodies = children.map(({ bytes }) => bytes);
  return Buffer.concat([head, printDirectory(order, fields, HEAD_BYTES), ...bodies]);
}

function sizeOf(entries: number, fields: readonly ExifField[]): number {
  const values = fields.reduce((sum, { bytes }) => sum + outside(bytes), 0);
  return 2 + entries * ENTRY_BYTES + 4 + values;
}

/** Bytes behind the directory: only for longer values, padded to an even length. */
function outside({ length }: Buffer): number {
  return length <= 4 ? 0 : length + (length % 2);
}

function printDirectory(order: ByteOrder, fields: readonly ExifField[], start: number): Buffer {
  const bytes = Buffer.alloc(sizeOf(fields.length, fields));
  const put = (value: number, at: number, size: 2 | 4) =>
    order === 'II' ? bytes.writeUIntLE(value, at, size) : bytes.writeUIntBE(value, at, size);
  put(fields.length, 0, 2);
  let free = 2 + fields.length * ENTRY_BYTES + 4;
  for (const [index, field] of fields.entries()) {
    const at = 2 + index * ENTRY_BYTES;
    put(field.tag, at, 2);
    put(field.type, at + 2, 2);
    put(field.count, at + 4, 4);
    const isInside = outside(field.bytes) === 0;
    if (!isInside) put(start + free, at + 8, 4);
    field.bytes.copy(bytes, isInside ? at + 8 : free);
    free += outside(field.bytes);
  }
  return bytes;
}
