/** AVIF files of any items: pictures of any size for its transparency and its tiles, and references of any kind. */
import sharp from 'sharp';
import { box } from './avif.ts';

export type AvifItem = { type: string; data: Buffer; properties: Buffer[]; isHidden?: boolean };
export type AvifReference = { type: string; from: number; to: number[] };

/** A picture of one colour, as an item. */
export async function flatItem(width: number, height: number): Promise<AvifItem> {
  const background = { r: 90, g: 120, b: 150 };
  const avif = await sharp({ create: { width, height, channels: 3, background } })
    .avif({ effort: 0, chromaSubsampling: '4:4:4' })
    .toBuffer();
  const data = child(avif, 'mdat').subarray(8);
  return { type: 'av01', data, properties: [sizeOf(width, height), child(avif, 'av1C'), depth] };
}

/** The same as the transparency of another one. */
export function asAlpha(item: AvifItem): AvifItem {
  return { ...item, properties: [...item.properties, alphaKind], isHidden: true };
}

export function gridItem(
  size: { width: number; height: number },
  { columns, rows }: { columns: number; rows: number },
): AvifItem {
  const { width, height } = size;
  const data = Buffer.concat([
    Buffer.from([0, 0, rows - 1, columns - 1]),
    number(width, 2),
    number(height, 2),
  ]);
  return { type: 'grid', data, properties: [sizeOf(width, height), depth] };
}

/** Items count from one, and the first is the one to be shown. */
export function printAvif(items: readonly AvifItem[], references: readonly AvifReference[]) {
  const known = items.flatMap(({ properties }) => properties);
  const owned = items.map(({ properties }, index) => {
    const indices = properties.map((property) => known.indexOf(property) + 1);
    return Buffer.concat([
      number(index + 1, 2),
      Buffer.from([indices.length]),
      ...indices.map((at) => number(at, 2)),
    ]);
  });
  const entries = items.map(({ type, isHidden }, index) =>
    box(
      'infe',
      Buffer.from([2, 0, 0, isHidden ? 1 : 0]),
      number(index + 1, 2),
      number(0, 2),
      Buffer.from(`${type}\0`),
    ),
  );
  const meta = (start: number) => {
    let at = start;
    const places = items.map(({ data }, index) => {
      const place = [number(index + 1, 2), number(0, 2), number(1, 2), number(at, 4)];
      at += data.length;
      return Buffer.concat([...place, number(data.length, 4)]);
    });
    return full(
      'meta',
      full('hdlr', number(0, 4), Buffer.from('pict'), Buffer.alloc(13)),
      full('pitm', number(1, 2)),
      full('iloc', Buffer.from([0x44, 0]), number(items.length, 2), ...places),
      full('iinf', number(items.length, 2), ...entries),
      box(
        'iprp',
        box('ipco', ...known),
        box('ipma', Buffer.from([0, 0, 0, 1]), number(items.length, 4), ...owned),
      ),
      full(
        'iref',
        ...references.map(({ type, from, to }) =>
          box(type, number(from, 2), number(to.length, 2), ...to.map((id) => number(id, 2))),
        ),
      ),
    );
  };
  const brands = box('ftyp', Buffer.from('avif\0\0\0\0avifmif1miafMA1B'));
  const start = brands.length + meta(0).length + 8;
  return Buffer.concat([brands, meta(start), box('mdat', ...items.map(({ data }) => data))]);
}

const depth = full('pixi', Buffer.from([3, 8, 8, 8]));
const alphaKind = full('auxC', Buffer.from('urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0'));

function sizeOf(width: number, height: number): Buffer {
  return full('ispe', number(width, 4), number(height, 4));
}

function full(type: string, ...parts: Buffer[]): Buffer {
  return box(type, Buffer.alloc(4), ...parts);
}

/** The whole box, header included, wherever it is. */
function child(file: Buffer, type: string): Buffer {
  const at = file.indexOf(type) - 4;
  return file.subarray(at, at + file.readUInt32BE(at));
}

function number(value: number, size: 2 | 4): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}
