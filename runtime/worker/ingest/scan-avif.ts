/**
 * The AVIF container: one still AV1 image, whole or as a grid of tiles, with or without an alpha image. Sequences are
 * refused by their brand or their tracks, HEVC content by its item type.
 */
import { AVIF_PIXELS_MAX } from '../../core/limits.ts';
import { type Av1Frame, hasMoreFrames, readAv1Frame } from './av1-frame.ts';
import { type ColorDescription, describeCodes, isSrgb } from './colors/color-description.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import {
  type Box,
  damaged,
  dropTrailer,
  type MediaItem,
  type MediaItems,
  readBoxes,
  readItemBytes,
  readItems,
} from './media-boxes.ts';
import type { HeaderFacts } from './scan.ts';

const SEQUENCE_BRANDS = ['avis', 'msf1'];
const ALPHA_KINDS = [
  'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha',
  'urn:mpeg:hevc:2015:auxid:1',
  'urn:mpeg:avc:2015:auxid:1',
];

/** Layers of a single progressive image; more make a film. */
const LAYERS_MAX = 8;
/** Tiles may extend beyond two edges of a grid, by less than one tile. */
const TILES_PIXELS_MAX = 2 * AVIF_PIXELS_MAX;

export function scanAvif(file: Buffer): HeaderFacts {
  const bytes = dropTrailer(file);
  const boxes = readBoxes(bytes);
  refuseSequence(bytes, boxes);
  const meta = boxes.find(({ type }) => type === 'meta');
  if (meta === undefined) throw damaged('no table of items');
  const media = readItems(meta.body);
  const primary = itemOf(media, media.primary);
  const pictures = readPictures(media, primary);
  const [tile] = pictures.seen;
  const coding = readCoding(tile);
  refuseHugeItems(media);
  const bytesOf = ({ id }: MediaItem) => readItemBytes(bytes, meta.body, id);
  for (const item of new Set(pictures.all.flat())) refuseFrames(bytesOf(item));
  const frame = readFrame(bytesOf(tile));
  return {
    content_type: 'image/avif',
    ...readSize(primary),
    coded_pixels: codedPixels(pictures.all, coding.bits),
    tiles: pictures.parts,
    bits_per_channel: coding.bits,
    has_alpha: pictures.has_alpha,
    is_premultiplied: pictures.has_alpha && isPremultiplied(media),
    is_lossless: false,
    frames: 1,
    quality: frame.quality,
    chroma: coding.is_subsampled ? '4:2:0' : '4:4:4',
    is_palette: false,
    colors: readColors(primary, frame),
  };
}

function refuseSequence(bytes: Buffer, boxes: readonly Box[]): void {
  const isSequence =
    SEQUENCE_BRANDS.includes(bytes.toString('latin1', 8, 12)) ||
    boxes.some(({ type }) => type === 'moov');
  if (isSequence) throw new IngestRefusal('animated_not_supported', 'AVIF: a sequence');
}

/** The coded image has its own size, for which a decoder allocates memory. */
function readFrame(bytes: Buffer | undefined): Av1Frame {
  const none = { width: 0, height: 0, quality: null };
  const frame = bytes === undefined ? none : readAv1Frame(bytes);
  if (frame.width * frame.height > AVIF_PIXELS_MAX) {
    throw new IngestRefusal('image_too_large', `AVIF: coded as ${frame.width}x${frame.height}`);
  }
  return frame;
}

/** A decoder decodes every frame and shows one. */
function refuseFrames(bytes: Buffer | undefined): void {
  if (bytes === undefined || !hasMoreFrames(bytes, LAYERS_MAX)) return;
  throw new IngestRefusal('animated_not_supported', `AVIF: more than ${LAYERS_MAX} frames`);
}

type Tiles = readonly [MediaItem, ...MediaItem[]];

/**
 * The tiles of the visible image (`seen`), of everything that is decoded, including its alpha
 * (`all`), and the ids of items that are only tiles of an image (`parts`).
 */
function readPictures(media: MediaItems, primary: MediaItem) {
  const auxiliary = readAlphas(media);
  const alphasOf = ({ id }: MediaItem) =>
    auxiliary.filter(({ to }) => to.includes(id)).map(({ item }) => item);
  const seen = tilesOf(media, primary);
  const alphas = alphasOf(primary);
  // Each time a tile is shown, its own alpha is decoded with it.
  const ofTiles = seen.filter((tile) => tile !== primary).flatMap(alphasOf);
  const seenThrough = alphas.map((alpha) => tilesOf(media, alpha));
  const all = [seen, ...seenThrough, ofTiles.flatMap((alpha) => tilesOf(media, alpha))];
  const whole = [...alphas, ...ofTiles];
  if ([...whole, ...seenThrough.flat()].some((item) => alphasOf(item).length > 0)) {
    throw unsupported('transparency of transparency');
  }
  const shown = new Set([primary, ...whole]);
  const parts = new Set(all.flat().filter((item) => !shown.has(item)));
  return { seen, all, has_alpha: whole.length > 0, parts: [...parts].map(({ id }) => id) };
}

/** A grid has the coding of its tiles. */
function tilesOf(media: MediaItems, item: MediaItem): Tiles {
  if (item.type === 'av01') return [item];
  if (item.type !== 'grid') throw unsupported(`an item of type ${item.type}`);
  const tiles = media.references.find(({ type, from }) => type === 'dimg' && from === item.id)?.to;
  const [first, ...others] = (tiles ?? []).map((id) => itemOf(media, id));
  if (first === undefined) throw damaged('a grid without tiles');
  const foreign = [first, ...others].find(({ type }) => type !== 'av01');
  if (foreign !== undefined) throw unsupported(`a tile of type ${foreign.type}`);
  return [first, ...others];
}

/** The pixels of the largest image; those deeper than the visible one count accordingly more. */
function codedPixels(pictures: readonly (readonly MediaItem[])[], bits: number): number {
  const counts = pictures.map((tiles) =>
    tiles.reduce((sum, tile) => {
      const { width, height } = readSize(tile);
      const depth = sampleBytes(readCoding(tile).bits) / sampleBytes(bits);
      return sum + width * height * Math.max(depth, 1);
    }, 0),
  );
  const count = Math.max(...counts);
  if (count > TILES_PIXELS_MAX) {
    throw new IngestRefusal('image_too_large', `AVIF: tiles of ${count} pixels`);
  }
  return count;
}

const sampleBytes = (bits: number) => (bits > 8 ? 2 : 1);

/** Thumbnails, tiles and alpha images are, or may be, decoded as well. */
function refuseHugeItems({ items }: MediaItems): void {
  for (const { properties } of items) {
    const size = properties.find(({ type }) => type === 'ispe');
    if (size === undefined) continue;
    const [width, height] = [size.body.readUInt32BE(4), size.body.readUInt32BE(8)];
    if (width * height > AVIF_PIXELS_MAX) {
      throw new IngestRefusal('image_too_large', `AVIF: an item of ${width}x${height}`);
    }
  }
}

function readSize(item: MediaItem): { width: number; height: number } {
  const { body } = propertyOf(item, 'ispe');
  const [width, height] = [body.readUInt32BE(4), body.readUInt32BE(8)];
  if (width === 0 || height === 0) throw damaged('no size');
  return { width, height };
}

function readCoding(item: MediaItem): { bits: number; is_subsampled: boolean } {
  const flags = propertyOf(item, 'av1C').body.readUInt8(2);
  const [isDeep, isTwelve] = [(flags & 0x40) !== 0, (flags & 0x20) !== 0];
  const isSubsampled = (flags & 0x0c) === 0x0c;
  return { bits: isDeep ? (isTwelve ? 12 : 10) : 8, is_subsampled: isSubsampled };
}

/** A profile takes precedence over numbers, and the container over its content. */
function readColors({ properties }: MediaItem, { codes }: Av1Frame): ColorDescription | undefined {
  const boxes = properties.filter(({ type }) => type === 'colr').map(({ body }) => body);
  const isOf = (kind: string) => (body: Buffer) => body.toString('latin1', 0, 4) === kind;
  if (boxes.some(isOf('prof')) || boxes.some(isOf('rICC'))) return undefined;
  const nclx = boxes.find(isOf('nclx'));
  const said = nclx ? { primaries: nclx.readUInt16BE(4), transfer: nclx.readUInt16BE(6) } : codes;
  if (said === undefined) return undefined;
  const colors = describeCodes(said.primaries, said.transfer);
  return isSrgb(colors) ? undefined : colors;
}

/** Each alpha image, and the items to which it belongs. */
function readAlphas(media: MediaItems): { item: MediaItem; to: number[] }[] {
  return media.references
    .filter(({ type }) => type === 'auxl')
    .map(({ from, to }) => ({ item: itemOf(media, from), to }))
    .filter(({ item }) => {
      const kind = item.properties.find(({ type }) => type === 'auxC')?.body.toString('latin1', 4);
      return ALPHA_KINDS.includes(kind?.split('\0')[0] ?? '');
    });
}

function isPremultiplied({ references, primary }: MediaItems): boolean {
  return references.some(({ type, from }) => type === 'prem' && from === primary);
}

function itemOf({ items }: MediaItems, id: number): MediaItem {
  const item = items.find((one) => one.id === id);
  if (item === undefined) throw damaged(`no item ${id}`);
  return item;
}

function propertyOf({ properties }: MediaItem, type: string): Box {
  const property = properties.find((one) => one.type === type);
  if (property === undefined) throw damaged(`no ${type}`);
  return property;
}

function unsupported(detail: string): IngestRefusal {
  return new IngestRefusal('unsupported_media_type', `AVIF: ${detail}`);
}
