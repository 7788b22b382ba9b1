/**
 * The WebP container: one image, lossy (VP8) or lossless (VP8L), simple or in the extended form, or an animation whose
 * frames are counted.
 */
import { WEBP_LOSSY_PIXELS_MAX } from '../../core/limits.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import type { HeaderFacts } from './scan.ts';
import { vp8Quality } from './vp8-quality.ts';
import { codeTableBytes } from './webp-code-sets.ts';

const FILE_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const FRAME_HEADER_BYTES = 16;
/** An empty chunk takes a hundred times more memory than space in the file. */
const CHUNKS_MAX = 10_000;
const ALPHA_FLAG = 0x10;
const ALPHA_METHOD = 0x03;
const ALPHA_LOSSLESS = 1;
const LOSSLESS_HEADER_BYTES = 5;
const SIDE_BITS = 14;
const SIDE_MASK = (1 << SIDE_BITS) - 1;

export function scanWebp(bytes: Buffer): HeaderFacts {
  const end = CHUNK_HEADER_BYTES + bytes.readUInt32LE(4);
  if (end > bytes.length) throw damaged('it is cut short');
  const chunks = readChunks(bytes.subarray(FILE_HEADER_BYTES, end));
  const frames = chunks.filter(({ type }) => type === 'ANMF');
  const inner = frames[0]?.body.subarray(FRAME_HEADER_BYTES);
  const picture = readPicture(inner === undefined ? chunks : readChunks(inner));
  const canvas = readCanvas(chunks);
  return {
    content_type: 'image/webp',
    width: canvas?.width ?? picture.width,
    height: canvas?.height ?? picture.height,
    table_bytes: tableBytes(picture),
    bits_per_channel: 8,
    has_alpha: picture.has_alpha || canvas?.has_alpha === true,
    is_lossless: picture.is_lossless,
    frames: Math.max(frames.length, 1),
    quality: picture.quality,
    chroma: null,
    is_palette: false,
  };
}

type Chunk = { type: string; body: Buffer };
type Picture = {
  width: number;
  height: number;
  has_alpha: boolean;
  is_lossless: boolean;
  quality: number | null;
  /** Lossless codes of the image, or of its alpha. */
  codes: Buffer | undefined;
};

function readChunks(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  let at = 0;
  while (at + CHUNK_HEADER_BYTES <= bytes.length) {
    const type = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const start = at + CHUNK_HEADER_BYTES;
    if (start + length > bytes.length) throw damaged('a chunk leaves the file');
    if (chunks.length === CHUNKS_MAX) throw tooMany(type);
    chunks.push({ type, body: bytes.subarray(start, start + length) });
    at = start + length + (length % 2);
  }
  return chunks;
}

function readPicture(chunks: readonly Chunk[]): Picture {
  const lossless = chunks.find(({ type }) => type === 'VP8L');
  const lossy = chunks.find(({ type }) => type === 'VP8 ');
  if (lossy !== undefined && lossless !== undefined) throw damaged('two pictures');
  if (lossless !== undefined) return readLossless(lossless.body);
  if (lossy === undefined) throw damaged('no picture');
  const alpha = chunks.find(({ type }) => type === 'ALPH')?.body;
  const isCoded = alpha !== undefined && ((alpha[0] ?? 0) & ALPHA_METHOD) === ALPHA_LOSSLESS;
  const codes = isCoded ? alpha.subarray(1) : undefined;
  return { ...readLossy(lossy.body), has_alpha: alpha !== undefined, codes };
}

function readLossless(body: Buffer): Picture {
  if (body.readUInt8(0) !== 0x2f) throw damaged('no VP8L signature');
  const bits = body.readUInt32LE(1);
  return {
    width: (bits & SIDE_MASK) + 1,
    height: ((bits >>> SIDE_BITS) & SIDE_MASK) + 1,
    has_alpha: ((bits >>> 28) & 1) === 1,
    is_lossless: true,
    quality: null,
    codes: body.subarray(LOSSLESS_HEADER_BYTES),
  };
}

/** Zero for a size that is refused anyway. */
function tableBytes({ width, height, codes }: Picture): number {
  const isRefused = width * height > WEBP_LOSSY_PIXELS_MAX;
  return codes === undefined || isRefused ? 0 : codeTableBytes(codes, { width, height });
}

function readLossy(body: Buffer): Omit<Picture, 'has_alpha' | 'codes'> {
  const isKeyFrame = (body.readUInt8(0) & 1) === 0;
  if (!isKeyFrame || body.readUIntBE(3, 3) !== 0x9d012a) throw damaged('no key frame');
  const [width, height] = [body.readUInt16LE(6) & SIDE_MASK, body.readUInt16LE(8) & SIDE_MASK];
  if (width === 0 || height === 0) throw damaged('no size');
  return { width, height, is_lossless: false, quality: vp8Quality(body.subarray(10)) };
}

function readCanvas(chunks: readonly Chunk[]) {
  const extended = chunks.find(({ type }) => type === 'VP8X')?.body;
  if (extended === undefined) return undefined;
  return {
    width: extended.readUIntLE(4, 3) + 1,
    height: extended.readUIntLE(7, 3) + 1,
    has_alpha: (extended.readUInt8(0) & ALPHA_FLAG) !== 0,
  };
}

function tooMany(type: string): IngestRefusal {
  const detail = `more than ${CHUNKS_MAX} chunks`;
  return type === 'ANMF' ? new IngestRefusal('animated_not_supported', detail) : damaged(detail);
}

function damaged(detail: string): IngestRefusal {
  return new IngestRefusal('decode_failed', `WebP: ${detail}`);
}
