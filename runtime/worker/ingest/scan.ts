/**
 * The facts in a file's own header, parsed strictly by our own code before any decoder sees a byte. Spec: Limits,
 * Uploads (image pixel limits); Processing error codes.
 */
import { pixelLimit, SNIFF_BYTES, sniffContentType } from '../../core/image/formats.ts';
import { AVIF_SIDE_PIXELS_MAX, JPEG_SIDE_PIXELS_MAX, SIDE_PIXELS_MAX } from '../../core/limits.ts';
import type { ColorDescription } from './colors/color-description.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import { scanAvif } from './scan-avif.ts';
import { scanBmp } from './scan-bmp.ts';
import { scanGif } from './scan-gif.ts';
import { scanJpeg } from './scan-jpeg.ts';
import { scanPng } from './scan-png.ts';
import { scanTiff } from './scan-tiff.ts';
import { scanWebp } from './scan-webp.ts';
import { walkExif } from './walk-exif.ts';

export type DecodableType =
  | 'image/jpeg'
  | 'image/png'
  | 'image/webp'
  | 'image/avif'
  | 'image/gif'
  | 'image/tiff'
  | 'image/bmp';

/** Sizes are as stored, before the orientation is applied. */
export type HeaderFacts = {
  content_type: DecodableType;
  width: number;
  height: number;
  /**
   * The pixels for which a decoder allocates memory, if they are more: tiles, and alpha of another
   * size.
   */
  coded_pixels?: number;
  /** The items of an AVIF composed of several. */
  tiles?: readonly number[];
  bits_per_channel: number;
  /** Memory that a decoder needs before there are pixels: code tables, and unpacked metadata. */
  table_bytes?: number;
  /** The image may have to be rotated, for which a decoder holds all of it. */
  is_turned?: boolean;
  has_alpha: boolean;
  /** The colors are premultiplied with alpha; decoders leave them so. */
  is_premultiplied?: boolean;
  is_lossless: boolean;
  frames: number;
  /** The pixels come in several passes, so a decoder holds the whole image. */
  is_progressive?: boolean;
  /** Lossy only: the encoder's quality setting, as far as the file reveals it. */
  quality: number | null;
  chroma: '4:2:0' | '4:4:4' | null;
  is_palette: boolean;
  /** For a TIFF whose sample layout the decoder's library does not, or not fully, support. */
  layout?: 'tiled_planes' | 'deep_palette' | undefined;
  /** Four inks instead of colors of light. */
  has_inks?: boolean;
  /** Colors other than sRGB that no profile describes. */
  colors?: ColorDescription | undefined;
};

/** Bytes per decoded sample: anything deeper than 8 bits takes 16 bits in memory. */
export function sampleBytesOf({ bits_per_channel }: Pick<HeaderFacts, 'bits_per_channel'>): 1 | 2 {
  return bits_per_channel > 8 ? 2 : 1;
}

/** For types whose limit differs from SIDE_PIXELS_MAX. */
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

/** Not TIFF, which is an EXIF block itself and has its own limits. */
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
    // A RangeError of Buffer means that the header promises more bytes than there are.
    if (error instanceof RangeError) throw new IngestRefusal('decode_failed', error.message);
    throw error;
  }
}
