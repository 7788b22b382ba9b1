/**
 * Rewrites a TIFF with a changed first directory. The new directory and its data follow the original bytes, so that
 * data referenced by other tags (profiles, places, times) stays in place.
 */
import { openTiff, type Tiff } from './tiff-directory.ts';
import { tag } from './tiff-tags.ts';

/** The new numbers of each tag; an empty list removes the tag. */
export type TagChanges = Readonly<Record<number, readonly number[]>>;

const TYPE_SHORT = 3;
const TYPE_LONG = 4;
const SHORT_MAX = 0xffff;
const LONG_MAX = 0xffff_ffff;
const NOTHING = Buffer.alloc(0);

/** With `strip`, all samples of the image are in that strip. */
export function changeTiff(bytes: Buffer, changes: TagChanges, strip: Buffer = NOTHING): Buffer {
  const tiff = openTiff(bytes);
  const { counter, offset, entry } = tiff.layout;
  const { entries } = tiff.directory(tiff.first);
  const stripAt = evenFrom(bytes.length);
  const start = evenFrom(stripAt + strip.length);
  const isOneStrip = strip.length > 0;
  const changed: TagChanges = {
    ...changes,
    ...(isOneStrip ? { [tag.strips]: [stripAt], [tag.stripBytes]: [strip.length] } : {}),
  };
  const kept = [...entries].filter(([name]) => changed[name] === undefined);
  const fresh = Object.entries(changed).filter(([, values]) => values.length > 0);
  const count = kept.length + fresh.length;
  const outside: Buffer[] = [];
  let at = start + counter + count * entry + offset;
  const written = fresh.map(([name, values]): [number, Buffer] => {
    const { head, body } = printField(tiff, Number(name), values);
    if (body.length <= offset) return [Number(name), padded(Buffer.concat([head, body]), entry)];
    const pointer = print(tiff, at, offset);
    outside.push(body);
    at += body.length;
    return [Number(name), Buffer.concat([head, pointer])];
  });
  const rows = [
    ...kept.map(([name, from]): [number, Buffer] => [name, bytes.subarray(from, from + entry)]),
    ...written,
  ].toSorted(([one], [other]) => one - other);
  const file = Buffer.concat([
    padded(bytes, stripAt),
    padded(strip, start - stripAt),
    print(tiff, count, counter),
    ...rows.map(([, row]) => row),
    print(tiff, 0, offset),
    ...outside,
  ]);
  print(tiff, start, offset).copy(file, offset === 8 ? 8 : 4);
  return file;
}

const ORIENTATION_MAX = 8;

/**
 * Removes an invalid orientation, such as 0: the decoder's library treats it as damage, and it does
 * not rotate anything.
 */
export function dropUnknownOrientation(bytes: Buffer): Buffer {
  const { first, directory } = openTiff(bytes);
  const orientation = directory(first).number(tag.orientation) ?? 1;
  const isKnown = orientation >= 1 && orientation <= ORIENTATION_MAX;
  return isKnown ? bytes : changeTiff(bytes, { [tag.orientation]: [] });
}

function printField(tiff: Tiff, name: number, values: readonly number[]) {
  const isLong = values.some((value) => value > SHORT_MAX);
  const { offset } = tiff.layout;
  const type = isLong ? TYPE_LONG : TYPE_SHORT;
  const head = [print(tiff, name, 2), print(tiff, type, 2), print(tiff, values.length, offset)];
  const body = values.map((value) => print(tiff, Math.min(value, LONG_MAX), isLong ? 4 : 2));
  return { head: Buffer.concat(head), body: Buffer.concat(body) };
}

/** Even 8-byte offsets are below 4 GiB, because no upload is longer. */
function print({ order }: Tiff, value: number, size: 2 | 4 | 8): Buffer {
  const bytes = Buffer.alloc(size);
  const width = size === 2 ? 2 : 4;
  if (order === 'II') bytes.writeUIntLE(value, 0, width);
  else bytes.writeUIntBE(value, size - width, width);
  return bytes;
}

function evenFrom(at: number): number {
  return at + (at % 2);
}

function padded(bytes: Buffer, length: number): Buffer {
  return bytes.length === length
    ? bytes
    : Buffer.concat([bytes, Buffer.alloc(length - bytes.length)]);
}
