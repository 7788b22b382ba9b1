// The image formats that the service accepts, stores and renders. Spec: What the service does; Uploads (create session,
// content_type); Limits, Uploads, image pixel limits. One row per type, in the specification's order, with the test
// that recognizes it by a file's first bytes.
import {
  AVIF_PIXELS_MAX,
  BMP_PIXELS_MAX,
  DEEP_COLOR_PIXELS_MAX,
  GIF_PIXELS_MAX,
  JPEG_PIXELS_MAX,
  PNG_PIXELS_MAX,
  SVG_BYTES_MAX,
  SVG_RASTER_PIXELS_MAX,
  TIFF_PIXELS_MAX,
  WEBP_LOSSLESS_ALPHA_PIXELS_MAX,
  WEBP_LOSSLESS_PIXELS_MAX,
  WEBP_LOSSY_ALPHA_PIXELS_MAX,
  WEBP_LOSSY_PIXELS_MAX,
} from '../limits.ts';
import { isAvif, isHeic, isSvg, startsWith } from './signatures.ts';

/**
 * The facts in a header, known before decoding. `bits_per_channel` is 8 for formats without depth.
 */
export type PixelFacts = {
  readonly content_type: UploadType;
  readonly bits_per_channel: number;
  readonly has_alpha: boolean;
  readonly is_lossless: boolean;
};

/** The eight types that an upload may declare. `stored_as` is the type after sanitizing. */
export const formats = [
  {
    content_type: 'image/jpeg',
    extension: 'jpg',
    stored_as: 'image/jpeg',
    takes_metadata: true,
    matches: (head) => startsWith(head, [0xff, 0xd8, 0xff]),
    pixels: () => JPEG_PIXELS_MAX,
  },
  {
    content_type: 'image/png',
    extension: 'png',
    stored_as: 'image/png',
    takes_metadata: true,
    matches: (head) => startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    pixels: () => PNG_PIXELS_MAX,
  },
  {
    content_type: 'image/webp',
    extension: 'webp',
    stored_as: 'image/webp',
    takes_metadata: true,
    matches: (head) => startsWith(head, 'RIFF') && startsWith(head, 'WEBP', 8),
    pixels: webpPixels,
  },
  {
    content_type: 'image/avif',
    extension: 'avif',
    stored_as: 'image/avif',
    takes_metadata: false,
    matches: isAvif,
    pixels: () => AVIF_PIXELS_MAX,
  },
  {
    content_type: 'image/gif',
    extension: 'gif',
    stored_as: 'image/gif',
    takes_metadata: false,
    matches: (head) => startsWith(head, 'GIF87a') || startsWith(head, 'GIF89a'),
    pixels: () => GIF_PIXELS_MAX,
  },
  {
    content_type: 'image/tiff',
    extension: 'tiff',
    stored_as: 'image/png',
    takes_metadata: true,
    matches: isTiff,
    pixels: () => TIFF_PIXELS_MAX,
  },
  {
    content_type: 'image/bmp',
    extension: 'bmp',
    stored_as: 'image/png',
    takes_metadata: true,
    matches: isBmp,
    pixels: () => BMP_PIXELS_MAX,
  },
  {
    content_type: 'image/svg+xml',
    extension: 'svg',
    stored_as: 'image/svg+xml',
    takes_metadata: false,
    matches: isSvg,
    pixels: () => SVG_RASTER_PIXELS_MAX,
  },
] as const satisfies readonly FormatRow[];

/** A content type that an upload may declare. */
export type UploadType = (typeof formats)[number]['content_type'];
/** A content type that a published file may have. */
export type StoredType = (typeof formats)[number]['stored_as'];
export type Format = (typeof formats)[number];

type FormatRow = {
  readonly content_type: string;
  /** The extension of a downloaded file, without the dot. */
  readonly extension: string;
  readonly stored_as: string;
  /** Whether saved EXIF, ICC and XMP can be restored into its container (raw downloads). */
  readonly takes_metadata: boolean;
  matches(head: Uint8Array): boolean;
  pixels(facts: { has_alpha: boolean; is_lossless: boolean }): number;
};

/**
 * How many bytes from a file's beginning `sniffContentType` needs (fewer for a shorter file). An
 * SVG may have more text before its root element, such as a license, so all given bytes are
 * examined for it.
 */
export const SNIFF_BYTES = 4096;

/** The row of a content type, or undefined for a type that the service does not accept. */
export function findFormat(contentType: string): Format | undefined {
  return formats.find((row) => row.content_type === contentType);
}

/**
 * The type of a file by its first bytes, whatever it was declared as: one of the eight types,
 * `image/heic` (recognized, always refused), or undefined. Frames are not examined: an animated
 * AVIF is an AVIF.
 */
export function sniffContentType(file: Uint8Array): UploadType | 'image/heic' | undefined {
  const head = file.subarray(0, SNIFF_BYTES);
  const format = formats.find((row) => row.matches(head));
  if (format !== undefined) return format.content_type;
  if (isHeic(head)) return 'image/heic';
  const isLongSvg = file.length > SNIFF_BYTES && isSvg(file.subarray(0, SVG_BYTES_MAX));
  return isLongSvg ? 'image/svg+xml' : undefined;
}

/** The maximum pixels of an upload: by its format, and for deep images regardless of format. */
export function pixelLimit(facts: PixelFacts): number {
  const limit = findFormat(facts.content_type)?.pixels(facts) ?? 0;
  return facts.bits_per_channel > 8 ? Math.min(limit, DEEP_COLOR_PIXELS_MAX) : limit;
}

function webpPixels(facts: { has_alpha: boolean; is_lossless: boolean }): number {
  if (facts.is_lossless) {
    return facts.has_alpha ? WEBP_LOSSLESS_ALPHA_PIXELS_MAX : WEBP_LOSSLESS_PIXELS_MAX;
  }
  return facts.has_alpha ? WEBP_LOSSY_ALPHA_PIXELS_MAX : WEBP_LOSSY_PIXELS_MAX;
}

function isTiff(head: Uint8Array): boolean {
  const orders = [
    [0x49, 0x49, 42, 0],
    [0x4d, 0x4d, 0, 42],
    [0x49, 0x49, 43, 0, 8, 0, 0, 0],
    [0x4d, 0x4d, 0, 43, 0, 8, 0, 0],
  ];
  return orders.some((order) => startsWith(head, order));
}

// "BM" alone would match plain text, so the reserved words must be zero and the header size known.
function isBmp(head: Uint8Array): boolean {
  if (!startsWith(head, 'BM') || !startsWith(head, [0, 0, 0, 0], 6)) return false;
  return (
    [12, 16, 40, 52, 56, 64, 108, 124].includes(head[14] ?? 0) && startsWith(head, [0, 0, 0], 15)
  );
}
