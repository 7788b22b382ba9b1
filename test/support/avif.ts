/** AVIF grids of tiles, which no available encoder writes, and a parser for AVIF boxes. */
import sharp from 'sharp';
import { over, type Picture } from './pictures.ts';

/** Cuts the picture into equal tiles and encodes each of them. */
export async function gridAvif(
  picture: Picture,
  { columns, rows, codes = [1, 13, 6] }: { columns: number; rows: number; codes?: Codes },
): Promise<Buffer> {
  const [width, height] = [picture.width / columns, picture.height / rows];
  const tiles: Buffer[] = [];
  for (let index = 0; index < columns * rows; index += 1) {
    const [left, top] = [(index % columns) * width, Math.floor(index / columns) * height];
    const tile = over(picture).extract({ left, top, width, height });
    tiles.push(await tile.avif({ quality: 90, chromaSubsampling: '4:4:4' }).toBuffer());
  }
  const [first] = tiles;
  if (first === undefined) throw new RangeError('a grid without tiles');
  return printGrid({ tiles, columns, rows, width, height, codes });
}

/** CICP codes: color primaries, transfer characteristics and matrix. */
type Codes = readonly [number, number, number];
type Grid = { tiles: Buffer[]; columns: number; rows: number; width: number; height: number } & {
  codes: Codes;
};

function printGrid({ tiles, columns, rows, width, height, codes }: Grid): Buffer {
  const ids = tiles.map((_, index) => index + 2);
  const configuration = child(tiles[0] ?? Buffer.alloc(0), 'av1C');
  const data = tiles.map((tile) => child(tile, 'mdat').subarray(8));
  const grid = Buffer.concat([
    Buffer.from([0, 0, rows - 1, columns - 1]),
    u16(width * columns),
    u16(height * rows),
  ]);
  const size = (across: number, down: number) => full('ispe', 0, u32(across), u32(down));
  const meta = (start: number) =>
    full(
      'meta',
      0,
      full('hdlr', 0, u32(0), Buffer.from('pict'), Buffer.alloc(13)),
      full('pitm', 0, u16(1)),
      locations([grid, ...data], start),
      full(
        'iinf',
        0,
        u16(tiles.length + 1),
        entry(1, 'grid'),
        ...ids.map((id) => hidden(entry(id, 'av01'))),
      ),
      box(
        'iprp',
        box(
          'ipco',
          size(width * columns, height * rows),
          size(width, height),
          configuration,
          full('pixi', 0, Buffer.from([3, 8, 8, 8])),
          box('colr', Buffer.from('nclx'), ...codes.map(u16), Buffer.from([0x80])),
        ),
        full(
          'ipma',
          0,
          u32(tiles.length + 1),
          Buffer.concat([u16(1), Buffer.from([3, 1, 4, 5])]),
          ...ids.map((id) => Buffer.concat([u16(id), Buffer.from([3, 2, 0x83, 4])])),
        ),
      ),
      full('iref', 0, box('dimg', u16(1), u16(ids.length), ...ids.map(u16))),
    );
  const brands = box('ftyp', Buffer.from('avif'), u32(0), Buffer.from('avifmif1miafMA1B'));
  const start = brands.length + meta(0).length + 8;
  return Buffer.concat([brands, meta(start), box('mdat', grid, ...data)]);
}

function locations(parts: readonly Buffer[], start: number): Buffer {
  let at = start;
  const rows = parts.map((part, index) => {
    const row = Buffer.concat([u16(index + 1), u16(0), u16(1), u32(at), u32(part.length)]);
    at += part.length;
    return row;
  });
  return full('iloc', 0, Buffer.from([0x44, 0]), u16(parts.length), ...rows);
}

function entry(id: number, type: string): Buffer {
  return full('infe', 2, u16(id), u16(0), Buffer.from(`${type}\0`));
}

/** Sets the hidden flag, so that the item is not displayed as an image of its own. */
function hidden(infe: Buffer): Buffer {
  infe.writeUInt8(1, 11);
  return infe;
}

/** Returns the first box of this type, including its header, at any depth. */
export function child(file: Buffer, type: string): Buffer {
  const at = file.indexOf(type) - 4;
  return file.subarray(at, at + file.readUInt32BE(at));
}

export function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body]);
}

export function full(type: string, version: number, ...parts: Buffer[]): Buffer {
  return box(type, Buffer.from([version, 0, 0, 0]), ...parts);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Decodes any image to three channels of 16-bit samples. */
export function deepSamples(bytes: Buffer): Promise<Buffer> {
  return sharp(bytes).removeAlpha().toColourspace('rgb16').raw({ depth: 'ushort' }).toBuffer();
}
