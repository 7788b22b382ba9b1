/** Builds AVIF files from arbitrary items and references, such as alpha images and tiles of any size. */
import sharp from 'sharp';
import { box, child, full, u16, u32 } from './avif.ts';

export type AvifItem = { type: string; data: Buffer; properties: Buffer[]; isHidden?: boolean };
export type AvifReference = { type: string; from: number; to: number[] };

/** Returns a single-color image as an item. */
export async function flatItem(width: number, height: number): Promise<AvifItem> {
  const background = { r: 90, g: 120, b: 150 };
  const avif = await sharp({ create: { width, height, channels: 3, background } })
    .avif({ effort: 0, chromaSubsampling: '4:4:4' })
    .toBuffer();
  const data = child(avif, 'mdat').subarray(8);
  return { type: 'av01', data, properties: [sizeOf(width, height), child(avif, 'av1C'), depth] };
}

/** Returns the item as an alpha image for another item. */
export function asAlpha(item: AvifItem): AvifItem {
  return { ...item, properties: [...item.properties, alphaKind], isHidden: true };
}

export function gridItem(
  size: { width: number; height: number },
  { columns, rows }: { columns: number; rows: number },
): AvifItem {
  const { width, height } = size;
  const data = Buffer.concat([Buffer.from([0, 0, rows - 1, columns - 1]), u16(width), u16(height)]);
  return { type: 'grid', data, properties: [sizeOf(width, height), depth] };
}

/** Numbers the items from 1; item 1 is the primary item. */
export function printAvif(items: readonly AvifItem[], references: readonly AvifReference[]) {
  const known = items.flatMap(({ properties }) => properties);
  const owned = items.map(({ properties }, index) => {
    const indices = properties.map((property) => known.indexOf(property) + 1);
    return Buffer.concat([
      u16(index + 1),
      Buffer.from([indices.length]),
      ...indices.map((at) => u16(at)),
    ]);
  });
  const entries = items.map(({ type, isHidden }, index) =>
    box(
      'infe',
      Buffer.from([2, 0, 0, isHidden ? 1 : 0]),
      u16(index + 1),
      u16(0),
      Buffer.from(`${type}\0`),
    ),
  );
  const meta = (start: number) => {
    let at = start;
    const places = items.map(({ data }, index) => {
      const place = [u16(index + 1), u16(0), u16(1), u32(at)];
      at += data.length;
      return Buffer.concat([...place, u32(data.length)]);
    });
    return full(
      'meta',
      0,
      full('hdlr', 0, u32(0), Buffer.from('pict'), Buffer.alloc(13)),
      full('pitm', 0, u16(1)),
      full('iloc', 0, Buffer.from([0x44, 0]), u16(items.length), ...places),
      full('iinf', 0, u16(items.length), ...entries),
      box(
        'iprp',
        box('ipco', ...known),
        box('ipma', Buffer.from([0, 0, 0, 1]), u32(items.length), ...owned),
      ),
      full(
        'iref',
        0,
        ...references.map(({ type, from, to }) =>
          box(type, u16(from), u16(to.length), ...to.map((id) => u16(id))),
        ),
      ),
    );
  };
  const brands = box('ftyp', Buffer.from('avif\0\0\0\0avifmif1miafMA1B'));
  const start = brands.length + meta(0).length + 8;
  return Buffer.concat([brands, meta(start), box('mdat', ...items.map(({ data }) => data))]);
}

const depth = full('pixi', 0, Buffer.from([3, 8, 8, 8]));
const alphaKind = full('auxC', 0, Buffer.from('urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0'));

function sizeOf(width: number, height: number): Buffer {
  return full('ispe', 0, u32(width), u32(height));
}
