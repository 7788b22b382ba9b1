/**
 * The PNG header: chunks up to the first image data. An animated PNG is announced there (acTL). Decoders without
 * support show only the first frame, so the animation must be detected here; without acTL it is detected by its frames.
 */
import { readPngColors } from './colors/read-png-colors.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import { SIGNATURE_BYTES, XMP } from './png-chunks.ts';
import type { HeaderFacts } from './scan.ts';

const CHUNK_FRAME_BYTES = 12;
const HEADER_BYTES = 13;
/** Before the pixels. An empty chunk takes a hundred times more memory than space in the file. */
const CHUNKS_MAX = 10_000;

/**
 * The most that the decoder's library unpacks, the largest growth by inflating, and the number of
 * copies.
 */
const UNPACKED_BYTES_MAX = 8_000_000;
const PACKED_TIMES_MAX = 1032;
const COPIES = 7;

/** The bit depths allowed for each color type. */
const depths: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
const PALETTE = 3;
const WITH_ALPHA = 4;

export function scanPng(bytes: Buffer): HeaderFacts {
  const {
    chunks: [first, ...chunks],
    end,
  } = chunksBeforeData(bytes);
  if (first?.type !== 'IHDR' || first.body.length !== HEADER_BYTES) throw damaged('no IHDR');
  const header = readHeader(first.body);
  const announced = chunks.find(({ type }) => type === 'acTL')?.body.readUInt32BE(0) ?? 1;
  const transparency = chunks.some(({ type }) => type === 'tRNS');
  return {
    content_type: 'image/png',
    width: header.width,
    height: header.height,
    table_bytes: unpackedBytes(chunks),
    bits_per_channel: header.depth === 16 ? 16 : 8,
    has_alpha: transparency || (header.color & WITH_ALPHA) !== 0,
    is_lossless: true,
    frames: Math.max(announced, countFrames(bytes, { chunks, end })),
    quality: null,
    chroma: null,
    is_palette: header.color === PALETTE,
    is_progressive: header.interlace === 1,
    colors: readPngColors(chunks),
  };
}

type Chunk = { type: string; body: Buffer };

/** `end`: where the image data begins. */
type BeforeData = { chunks: readonly Chunk[]; end: number };

function chunksBeforeData(bytes: Buffer): BeforeData {
  const chunks: Chunk[] = [];
  let at = SIGNATURE_BYTES;
  for (;;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (!/^[A-Za-z]{4}$/.test(type)) throw damaged('a chunk has no name');
    if (type === 'IDAT') return { chunks, end: at };
    if (type === 'IEND') throw damaged('no image data');
    if (at + CHUNK_FRAME_BYTES + length > bytes.length) throw damaged('a chunk leaves the file');
    if (chunks.length === CHUNKS_MAX) throw damaged('too many chunks');
    chunks.push({ type, body: bytes.subarray(at + 8, at + 8 + length) });
    at += CHUNK_FRAME_BYTES + length;
  }
}

/** For the profile and XMP, the only packed texts left for the decoder. */
function unpackedBytes(chunks: readonly Chunk[]): number {
  return chunks
    .filter(({ type, body }) => type === 'iCCP' || isPackedXmp(type, body))
    .map(({ body }) => COPIES * Math.min(body.length * PACKED_TIMES_MAX, UNPACKED_BYTES_MAX))
    .sort((one, other) => other - one)
    .slice(0, 2)
    .reduce((sum, bytes) => sum + bytes, 0);
}

function isPackedXmp(type: string, body: Buffer): boolean {
  const isXmp = body.toString('latin1', 0, XMP.length) === XMP;
  return isXmp && (type === 'zTXt' || (type === 'iTXt' && body[XMP.length] === 1));
}

function countFrames(bytes: Buffer, { chunks, end }: BeforeData): number {
  let frames = chunks.filter(({ type }) => type === 'fcTL').length;
  let at = end;
  // Nothing behind a damaged chunk is drawn: the decoder refuses it.
  while (at + CHUNK_FRAME_BYTES <= bytes.length) {
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'fcTL') frames += 1;
    // A separate frame besides the main image.
    if (type === 'fdAT') frames = Math.max(frames, 2);
    if (type === 'IEND') return Math.max(frames, 1);
    at += CHUNK_FRAME_BYTES + bytes.readUInt32BE(at);
  }
  // Checked here: the decoder's library reports nothing as long as all pixels are there.
  if (frames < 2) throw damaged('cut short before IEND');
  return frames;
}

function readHeader(body: Buffer) {
  const [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
  const [depth, color] = [body.readUInt8(8), body.readUInt8(9)];
  const [compression, filter, interlace] = [
    body.readUInt8(10),
    body.readUInt8(11),
    body.readUInt8(12),
  ];
  if (width === 0 || height === 0) throw damaged('no size');
  if (depths[color]?.includes(depth) !== true) throw damaged('no such color type and depth');
  if (compression !== 0 || filter !== 0 || interlace > 1) throw damaged('no such coding');
  return { width, height, depth, color, interlace };
}

function damaged(detail: string): IngestRefusal {
  return new IngestRefusal('decode_failed', `PNG: ${detail}`);
}
