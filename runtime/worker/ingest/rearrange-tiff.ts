/**
 * Rearranges TIFFs whose sample layout the decoder's library does not support into one strip: each plane of tiles is
 * read as a grey image, and a palette of 16 bits by its indices. Spec: What the service does.
 */
import sharp from 'sharp';
import { TIFF_PIXELS_MAX } from '../../core/limits.ts';
import { changeTiff, type TagChanges } from './change-tiff.ts';
import { toUint16Samples } from './pixels.ts';
import type { HeaderFacts } from './scan.ts';
import { type Directory, damaged, openTiff } from './tiff-directory.ts';
import { applyPalette, readPalette } from './tiff-palette.ts';
import { tag } from './tiff-tags.ts';

const BLACK_IS_ZERO = 1;
const RGB = 2;
const NOT_COMPRESSED = 1;
/** By the standard; smaller tiles could be as many as pixels. */
const TILE_SIDE_MIN = 16;

/** Tags that describe a single grey plane in stored orientation, whatever the image is. */
const GREY: TagChanges = {
  [tag.photometric]: [BLACK_IS_ZERO],
  [tag.samples]: [1],
  [tag.planes]: [1],
  [tag.orientation]: [],
  [tag.palette]: [],
  [tag.extra]: [],
  [tag.format]: [],
  [tag.profile]: [],
};
const IN_ONE_STRIP: TagChanges = {
  [tag.compression]: [NOT_COMPRESSED],
  [tag.planes]: [1],
  [tag.predictor]: [],
  [tag.tileWidth]: [],
  [tag.tileHeight]: [],
  [tag.tiles]: [],
  [tag.tileBytes]: [],
  [tag.jpegTables]: [],
};

type Layout = NonNullable<HeaderFacts['layout']>;

export async function rearrangeTiff(bytes: Buffer, layout: Layout): Promise<Buffer> {
  const { order, first, directory } = openTiff(bytes);
  const page = directory(first);
  const { samples, changes } = await readers[layout](bytes, page);
  const strip = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  if (order === 'MM' && samples.BYTES_PER_ELEMENT === 2) strip.swap16();
  const stripRows = { [tag.stripRows]: [page.number(tag.height) ?? 0] };
  return changeTiff(bytes, { ...IN_ONE_STRIP, ...stripRows, ...changes }, strip);
}

type Samples = Uint8Array | Uint16Array;
type Read = (bytes: Buffer, page: Directory) => Promise<{ samples: Samples; changes: TagChanges }>;

const readers: Readonly<Record<Layout, Read>> = {
  tiled_planes: async (bytes, page) => ({ samples: await joinPlanes(bytes, page), changes: {} }),
  deep_palette: async (bytes, page) => ({
    samples: await paintAll(bytes, page),
    changes: {
      [tag.photometric]: [RGB],
      [tag.samples]: [3],
      [tag.bits]: [16, 16, 16],
      [tag.palette]: [],
      [tag.format]: [],
    },
  }),
};

async function joinPlanes(bytes: Buffer, page: Directory): Promise<Samples> {
  const count = page.number(tag.samples) ?? 1;
  const bits = page.number(tag.bits) ?? 8;
  const each = tilesOfPlane(page);
  const [offsets, lengths] = [tag.tiles, tag.tileBytes].map((name) =>
    page.allNumbers(name, each * count),
  );
  if (offsets?.length !== each * count || lengths?.length !== each * count) {
    throw damaged('other tiles than it needs');
  }
  let joined: Samples | undefined;
  for (let plane = 0; plane < count; plane += 1) {
    const own = (all: readonly number[]) => all.slice(plane * each, (plane + 1) * each);
    const changes = {
      ...GREY,
      [tag.bits]: [bits],
      [tag.tiles]: own(offsets),
      [tag.tileBytes]: own(lengths),
    };
    const samples = await readGrey(changeTiff(bytes, changes), bits);
    joined ??=
      bits > 8 ? new Uint16Array(samples.length * count) : new Uint8Array(samples.length * count);
    for (let at = 0; at < samples.length; at += 1) joined[at * count + plane] = samples[at] ?? 0;
  }
  return joined ?? new Uint8Array();
}

function tilesOfPlane(page: Directory): number {
  const along = (side: number, tile: number) => {
    const length = page.number(tile) ?? 0;
    if (length < TILE_SIDE_MIN) throw damaged(`tiles of ${length} pixels`);
    return Math.ceil((page.number(side) ?? 0) / length);
  };
  return along(tag.width, tag.tileWidth) * along(tag.height, tag.tileHeight);
}

/** Grey of less than 8 bits is returned stretched to 8. */
async function paintAll(bytes: Buffer, page: Directory): Promise<Samples> {
  const bits = page.number(tag.bits) ?? 1;
  const indices = Uint8Array.from(await readGrey(changeTiff(bytes, GREY), 8));
  if (bits < 8) {
    const step = 255 / (2 ** bits - 1);
    for (let at = 0; at < indices.length; at += 1) indices[at] = (indices[at] ?? 0) / step;
  }
  const painted = applyPalette(indices, readPalette(page));
  if (painted === undefined) throw damaged('a color that is not in the palette');
  return painted;
}

async function readGrey(bytes: Buffer, bits: number): Promise<Samples> {
  const isDeep = bits > 8;
  const data = await sharp(bytes, {
    failOn: 'warning',
    limitInputPixels: TIFF_PIXELS_MAX,
    sequentialRead: true,
    ignoreIcc: true,
  })
    .toColourspace(isDeep ? 'grey16' : 'b-w')
    .raw({ depth: isDeep ? 'ushort' : 'uchar' })
    .toBuffer();
  return isDeep ? toUint16Samples(data) : data;
}
