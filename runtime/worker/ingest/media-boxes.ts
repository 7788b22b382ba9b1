/**
 * Reads the boxes and the item table of an ISO media file strictly (ISO/IEC 14496-12 and 23008-12): a box never exceeds
 * its parent, and the number of boxes is limited.
 */
import { IngestRefusal } from './ingest-refusal.ts';

export type Box = { type: string; body: Buffer };

/** One item of the table. */
export type MediaItem = { id: number; type: string; properties: Box[] };
export type MediaReference = { type: string; from: number; to: number[] };
export type MediaItems = { primary: number; items: MediaItem[]; references: MediaReference[] };

const BOXES_MAX = 2000;
const ITEMS_MAX = 1000;
const FULL_BOX_BYTES = 4;
const BOX_HEAD_BYTES = 8;
/** For a box with a 64-bit size. */
const LONG_BOX_HEAD_BYTES = 16;

export function readBoxes(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { head, size } = readBoxSize(bytes, at);
    if (size < head || at + size > bytes.length) throw damaged('a box leaves what it is in');
    const type = bytes.toString('latin1', at + 4, at + 8);
    boxes.push({ type, body: bytes.subarray(at + head, at + size) });
    if (boxes.length > BOXES_MAX) throw damaged('too many boxes');
    at += size;
  }
  return boxes;
}

/**
 * Removes the bytes behind the last box if the image is complete without them: neither we nor a
 * decoder read them. Otherwise the file is returned whole, so that a truncated image is detected.
 */
export function dropTrailer(bytes: Buffer): Buffer {
  const types = new Set<string>();
  let at = 0;
  for (let count = 0; count < BOXES_MAX && hasWholeBox(bytes, at); count += 1) {
    types.add(bytes.toString('latin1', at + 4, at + 8));
    at += readBoxSize(bytes, at).size;
  }
  return types.has('meta') && types.has('mdat') && !hasWholeBox(bytes, at)
    ? bytes.subarray(0, at)
    : bytes;
}

function hasWholeBox(bytes: Buffer, at: number): boolean {
  const left = bytes.length - at;
  if (left < BOX_HEAD_BYTES || (bytes.readUInt32BE(at) === 1 && left < LONG_BOX_HEAD_BYTES)) {
    return false;
  }
  const { head, size } = readBoxSize(bytes, at);
  return size >= head && at + size <= bytes.length;
}

/** The items that a `meta` box describes, each with its properties in order. */
export function readItems(meta: Buffer): MediaItems {
  const boxes = readBoxes(meta.subarray(FULL_BOX_BYTES));
  const properties = readBoxes(find(boxes, 'iprp'));
  const known = readBoxes(find(properties, 'ipco'));
  const owned = readAssociations(find(properties, 'ipma'));
  const items = readTypes(find(boxes, 'iinf')).map(({ id, type }) => ({
    id,
    type,
    properties: (owned.get(id) ?? []).flatMap((index) => known[index - 1] ?? []),
  }));
  const references = boxes.find(({ type }) => type === 'iref');
  return {
    primary: readPrimary(find(boxes, 'pitm')),
    items,
    references: references === undefined ? [] : readReferences(references.body),
  };
}

/** Makes the item the only visible image of the file, which is modified in place. */
export function setPrimaryItem(file: Buffer, id: number): void {
  const meta = find(readBoxes(file), 'meta');
  const boxes = readBoxes(meta.subarray(FULL_BOX_BYTES));
  const pitm = find(boxes, 'pitm');
  pitm.writeUIntBE(id, FULL_BOX_BYTES, idBytes(pitm, 1));
  const iinf = find(boxes, 'iinf');
  for (const { body } of readBoxes(iinf.subarray(FULL_BOX_BYTES + idBytes(iinf, 1)))) {
    const isShown = body.readUIntBE(FULL_BOX_BYTES, idBytes(body, 3)) === id;
    // The last bit of the flags: hidden.
    body.writeUInt8((body.readUInt8(3) & 0xfe) | (isShown ? 0 : 1), 3);
  }
}

/** The item's bytes, from the file or from the table itself; undefined when they are elsewhere. */
export function readItemBytes(file: Buffer, meta: Buffer, id: number): Buffer | undefined {
  const boxes = readBoxes(meta.subarray(FULL_BOX_BYTES));
  const place = findPlace(find(boxes, 'iloc'), id);
  const source = place?.method === IN_TABLE ? find(boxes, 'idat') : file;
  if (place === undefined || place.method > IN_TABLE) return undefined;
  let left = source.length;
  const parts = place.extents.map(({ start, length }) => {
    const part = source.subarray(start, length === 0 ? source.length : start + length);
    left -= part.length;
    if (left < 0) throw damaged('an item that repeats the file');
    return part;
  });
  return parts.length === 1 ? parts[0] : Buffer.concat(parts);
}

type Place = { method: number; extents: { start: number; length: number }[] };

const IN_TABLE = 1;

function findPlace(iloc: Buffer, id: number): Place | undefined {
  const [version, sizes, moreSizes] = [iloc.readUInt8(0), iloc.readUInt8(4), iloc.readUInt8(5)];
  const width = idBytes(iloc, 2);
  const bytes = { offset: sizes >> 4, length: sizes & 15, base: moreSizes >> 4 };
  const index = version > 0 ? moreSizes & 15 : 0;
  const count = iloc.readUIntBE(6, width);
  let at = 6 + width;
  for (let item = 0; item < Math.min(count, ITEMS_MAX); item += 1) {
    const found = iloc.readUIntBE(at, width);
    const method = version > 0 ? iloc.readUInt16BE(at + width) & 15 : 0;
    at += width + (version > 0 ? 4 : 2);
    const base = readNumber(iloc, at, bytes.base);
    const parts = iloc.readUInt16BE(at + bytes.base);
    at += bytes.base + 2;
    const step = index + bytes.offset + bytes.length;
    if (found === id) {
      const extents = Array.from({ length: parts }, (_, extent) => {
        const place = at + extent * step + index;
        const start = base + readNumber(iloc, place, bytes.offset);
        return { start, length: readNumber(iloc, place + bytes.offset, bytes.length) };
      });
      return { method, extents };
    }
    at += parts * step;
  }
  return undefined;
}

/** `size` is 0, 4 or 8 bytes. */
function readNumber(bytes: Buffer, at: number, size: number): number {
  if (size === 0) return 0;
  return size === 8 ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
}

function readBoxSize(bytes: Buffer, at: number): { head: number; size: number } {
  const size = bytes.readUInt32BE(at);
  if (size === 1) {
    return { head: LONG_BOX_HEAD_BYTES, size: Number(bytes.readBigUInt64BE(at + 8)) };
  }
  return { head: BOX_HEAD_BYTES, size: size === 0 ? bytes.length - at : size };
}

function find(boxes: readonly Box[], type: string): Buffer {
  const found = boxes.find((box) => box.type === type);
  if (found === undefined) throw damaged(`no ${type}`);
  return found.body;
}

function readPrimary(pitm: Buffer): number {
  return pitm.readUIntBE(FULL_BOX_BYTES, idBytes(pitm, 1));
}

function readTypes(iinf: Buffer): { id: number; type: string }[] {
  const countBytes = idBytes(iinf, 1);
  return readBoxes(iinf.subarray(FULL_BOX_BYTES + countBytes)).flatMap(({ type, body }) => {
    if (type !== 'infe' || body.readUInt8(0) < 2) return [];
    const width = idBytes(body, 3);
    const at = FULL_BOX_BYTES + width + 2;
    return [
      { id: body.readUIntBE(FULL_BOX_BYTES, width), type: body.toString('latin1', at, at + 4) },
    ];
  });
}

/** For each item the numbers of its properties, counted from one. */
function readAssociations(ipma: Buffer): Map<number, number[]> {
  const width = idBytes(ipma, 1);
  const isWide = (ipma.readUInt8(3) & 1) !== 0;
  const count = ipma.readUInt32BE(FULL_BOX_BYTES);
  if (count > ITEMS_MAX) throw damaged('too many items');
  const owned = new Map<number, number[]>();
  let at = FULL_BOX_BYTES + 4;
  for (let entry = 0; entry < count; entry += 1) {
    const id = ipma.readUIntBE(at, width);
    const length = ipma.readUInt8(at + width);
    at += width + 1;
    const step = isWide ? 2 : 1;
    const indices = Array.from({ length }, (_, index) => {
      const value = ipma.readUIntBE(at + index * step, step);
      return value & (isWide ? 0x7fff : 0x7f);
    });
    owned.set(id, indices);
    at += length * step;
  }
  return owned;
}

function readReferences(iref: Buffer): MediaReference[] {
  const width = idBytes(iref, 1);
  return readBoxes(iref.subarray(FULL_BOX_BYTES)).map(({ type, body }) => {
    const count = body.readUInt16BE(width);
    if (count > ITEMS_MAX) throw damaged('too many references');
    const to = Array.from({ length: count }, (_, index) =>
      body.readUIntBE(width + 2 + index * width, width),
    );
    return { type, from: body.readUIntBE(0, width), to };
  });
}

/** Ids are wide from this version of a box on. */
function idBytes(box: Buffer, wideFrom: number): 2 | 4 {
  return box.readUInt8(0) >= wideFrom ? 4 : 2;
}

export function damaged(detail: string): IngestRefusal {
  return new IngestRefusal('decode_failed', `AVIF: ${detail}`);
}
