/**
 * What a file's own header says, read strictly by our own code before any decoder sees a byte.
 * Spec: Limits, Uploads (image pixel limits); Processing error codes.
 */
import { pixelLimit, SNIFF_BYTES, sniffContentType } from '../../core/image/formats.ts';
import { AVIF_SIDE_PIXELS_MAX, JPEG_SIDE_PIXELS_MAX, SIDE_PIXELS_MAX } from '../../core/limits.ts';
import type { ColourDescription } from './colours/colour-description.ts';
import { walkExif } from './exif-maze.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import { scanAvif } from './scan-avif.ts';
import { scanBmp } from './scan-bmp.ts';
import { scanGif } from './scan-gif.ts';
import { scanJpeg } from './scan-jpeg.ts';
import { scanPng } from './scan-png.ts';
import { scanTiff } from './scan-tiff.ts';
import { scanWebp } from './scan-webp.ts';

export type DecodableType =
  | 'image/jpeg'
  | 'image/png'
  | 'image/webp'
  | 'image/avif'
  | 'image/gif'
  | 'image/tiff'
  | 'image/bmp';

/** Sizes are as stored, before orientation is applied. */
export type HeaderFacts = {
  content_type: DecodableType;
  width: number;
  height: number;
  /** As many as a decoder makes room for, where these are more: tiles, and transparency of a size of its own. */
  coded_pixels?: number;
  /** Of an AVIF that is put together: the items that it is made of. */
  tiles?: readonly number[];
  bits_per_channel: number;
  /** Of what a decoder makes before there are pixels: codes, and what was packed beside them. */
  table_bytes?: number;
  /** It may have to be turned, for which a decoder holds all of it. */
  is_turned?: boolean;
  has_alpha: boolean;
  /** Its colours were multiplied with its transparency, which decoders leave as it is. */
  is_premultiplied?: boolean;
  is_lossless: boolean;
  frames: number;
  /** Its pixels come in passes over all of it, which a decoder holds as a whole. */
  is_progressive?: boolean;
  /** Lossy only: the quality that its encoder was asked for, as far as the file tells. */
  quality: number | null;
  chroma: '4:2:0' | '4:4:4' | null;
  is_palette: boolean;
  /** Of a TIFF: samples that the decoder's library does not take, or not whole, as they lie. */
  layout?: 'tiled_planes' | 'deep_palette' | undefined;
  /** Four of them, instead of colours of light. */
  has_inks?: boolean;
  /** Other ones than sRGB, which no profile describes. */
  colours?: ColourDescription | undefined;
};

/** Of a decoded sample: whatever is deeper than 8 bits takes 16 in memory. */
export function sampleBytesOf({ bits_per_channel }: Pick<HeaderFacts, 'bits_per_channel'>): 1 | 2 {
  return bits_per_channel > 8 ? 2 : 1;
}

/** Where it is not as for all others. */
const sideMax: Partial<Record<DecodableType, number>> = {
  'image/jpeg': JPEG_SIDE_PIXELS_MAX,
  'image/avif': AVIF_SIDE_PIXELS_MAX,
};

/** Throws IngestRefusal with the code of the first rule that the file breaks. */
export function scanImage(bytes: Buffer, declaredType: string): HeaderFacts {
  const sniffed = sniffContentType(bytes.subarray(0, SNIFF_BYTES));
  if (sniffed !== declaredType) {
    throw new IngestRefusal(
      'unsupported_media_type',
      `${sniffed ?? 'unknown'}, not ${declaredType}`,
    );
  }
  const facts = scanType(sniffed, bytes);
  if (facts.frames > 1) {
    throw new IngestRefusal('animated_not_supported', `${facts.frames} frames`);
  }
  const limit = pixelLimit(facts);
  const longest = sideMax[facts.content_type] ?? SIDE_PIXELS_MAX;
  const isTooLong = Math.max(facts.width, facts.height) > longest;
  if (isTooLong || facts.width * facts.height > limit) {
    const most = `at most ${limit}, ${longest} a side`;
    throw new IngestRefusal('image_too_large', `${facts.width}x${facts.height}, ${most}`);
  }
  return WITH_EXIF.has(facts.content_type) ? { ...facts, ...walkExif(bytes) } : facts;
}

/** A TIFF is such a block itself, with limits of its own. */
const WITH_EXIF: ReadonlySet<DecodableType> = new Set([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
]);

function scanType(contentType: string, bytes: Buffer): HeaderFacts {
  try {
    switch (contentType) {
      case 'image/jpeg':
        return scanJpeg(bytes);
      case 'image/png':
        return scanPng(bytes);
      case 'image/webp':
        return scanWebp(bytes);
      case 'image/avif':
        return scanAvif(bytes);
      case 'image/gif':
        return scanGif(bytes);
      case 'image/tiff':
        return scanTiff(bytes);
      case 'image/bmp':
        return scanBmp(bytes);
      default:
        throw new IngestRefusal('unsupported_media_type', contentType);
    }
  } catch (error) {
    // Buffer's own range checks: the header promises more bytes than there are.
    if (error instanceof RangeError) throw new IngestRefusal('decode_failed', error.message);
    throw error;
  }
}
