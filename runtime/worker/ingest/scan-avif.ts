/**
 * The AVIF container: one still AV1 picture, whole or as a grid of tiles, with or without a picture of its
 * transparency. Sequences are refused by their brand or their tracks, HEVC inside by its item type.
 */
import { AVIF_PIXELS_MAX } from '../../core/limits.ts';
import { type Av1Frame, readAv1Frame } from './av1-frame.ts';
import { type ColourDescription, describeCodes, isSrgb } from './colours/colour-description.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import {
  type Box,
  dropTrailer,
  findItemStart,
  type MediaItem,
  type MediaItems,
  readBoxes,
  readItems,
} from './media-boxes.ts';
import type { HeaderFacts } from './scan.ts';

const SEQUENCE_BRANDS = ['avis', 'msf1'];
const ALPHA_KINDS = [
  'urn:mpeg:mpegB:cicp:systems:auxiliary:alpha',
  'urn:mpeg:hevc:2015:auxid:1',
  'urn:mpeg:avc:2015:auxid:1',
];

export function scanAvif(file: Buffer): HeaderFacts {
  const bytes = dropTrailer(file);
  const boxes = readBoxes(bytes);
  refuseSequence(bytes, boxes);
  const meta = boxes.find(({ type }) => type === 'meta');
  if (meta === undefined) throw damaged('no table of items');
  const media = readItems(meta.body);
  const primary = itemOf(media, media.primary);
  const tile = firstTile(media, primary);
  const coding = readCoding(tile);
  refuseHugeItems(media);
  const frame = readFrame(bytes, findItemStart(meta.body, tile.id));
  return {
    content_type: 'image/avif',
    ...readSize(primary),
    bits_per_channel: coding.bits,
    has_alpha: hasAlpha(media),
    is_premultiplied: isPremultiplied(media),
    is_lossless: false,
    frames: 1,
    quality: frame.quality,
    chroma: coding.is_subsampled ? '4:2:0' : '4:4:4',
    is_palette: false,
    colours: readColours(primary, frame),
  };
}

function refuseSequence(bytes: Buffer, boxes: readonly Box[]): void {
  const isSequence =
    SEQUENCE_BRANDS.includes(bytes.toString('latin1', 8, 12)) ||
    boxes.some(({ type }) => type === 'moov');
  if (isSequence) throw new IngestRefusal('animated_not_supported', 'AVIF: a sequence');
}

/** The coded picture has a size of its own, which a decoder makes room for. */
function readFrame(bytes: Buffer, start: number | undefined): Av1Frame {
  const none = { width: 0, height: 0, quality: null };
  const frame = start === undefined ? none : readAv1Frame(bytes.subarray(start));
  if (frame.width * frame.height > AVIF_PIXELS_MAX) {
    throw new IngestRefusal('image_too_large', `AVIF: coded as ${frame.width}x${frame.height}`);
  }
  return frame;
}

/** A grid is coded as its tiles are. */
function firstTile(media: MediaItems, primary: MediaItem): MediaItem {
  if (primary.type === 'av01') return primary;
  if (primary.type !== 'grid') throw unsupported(`an item of type ${primary.type}`);
  const tiles = media.references.find(
    ({ type, from }) => type === 'dimg' && from === primary.id,
  )?.to;
  const items = (tiles ?? []).map((id) => itemOf(media, id));
  const [first] = items;
  if (first === undefined) throw damaged('a grid without tiles');
  const foreign = items.find(({ type }) => type !== 'av01');
  if (foreign !== undefined) throw unsupported(`a tile of type ${foreign.type}`);
  return first;
}

/** Thumbnails, tiles and transparency too are decoded or may be. */
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

/** A profile goes before the numbers, where there are both; and the container before what it contains. */
function readColours(
  { properties }: MediaItem,
  { codes }: Av1Frame,
): ColourDescription | undefined {
  const boxes = properties.filter(({ type }) => type === 'colr').map(({ body }) => body);
  const isOf = (kind: string) => (body: Buffer) => body.toString('latin1', 0, 4) === kind;
  if (boxes.some(isOf('prof')) || boxes.some(isOf('rICC'))) return undefined;
  const nclx = boxes.find(isOf('nclx'));
  const said = nclx ? { primaries: nclx.readUInt16BE(4), transfer: nclx.readUInt16BE(6) } : codes;
  if (said === undefined) return undefined;
  const colours = describeCodes(said.primaries, said.transfer);
  return isSrgb(colours) ? undefined : colours;
}

function hasAlpha(media: MediaItems): boolean {
  return media.references.some(({ type, from, to }) => {
    if (type !== 'auxl' || !to.includes(media.primary)) return false;
    const kind = itemOf(media, from).properties.find((property) => property.type === 'auxC');
    return ALPHA_KINDS.includes(kind?.body.toString('latin1', 4).split('\0')[0] ?? '');
  });
}

function isPremultiplied(media: MediaItems): boolean {
  const isOfPrimary = media.references.some(
    ({ type, from }) => type === 'prem' && from === media.primary,
  );
  return isOfPrimary && hasAlpha(media);
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

function damaged(detail: string): IngestRefusal {
  return new IngestRefusal('decode_failed', `AVIF: ${detail}`);
}

function unsupported(detail: string): IngestRefusal {
  return new IngestRefusal('unsupported_media_type', `AVIF: ${detail}`);
}
