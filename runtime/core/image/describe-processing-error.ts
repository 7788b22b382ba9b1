/**
 * The sentence for a failed upload, worded for its declared type: a failed photograph does not mention SVG, and for an
 * image that is too large the limit is stated. Spec: Processing error codes; Limits, Uploads.
 */
import { type ProcessingErrorCode, processingErrors } from '../errors.ts';
import {
  AVIF_PIXELS_MAX,
  AVIF_SIDE_PIXELS_MAX,
  BMP_PIXELS_MAX,
  DEEP_COLOR_PIXELS_MAX,
  GIF_PIXELS_MAX,
  JPEG_PIXELS_MAX,
  JPEG_SIDE_PIXELS_MAX,
  PNG_PIXELS_MAX,
  TIFF_PIXELS_MAX,
  WEBP_LOSSLESS_ALPHA_PIXELS_MAX,
  WEBP_LOSSLESS_PIXELS_MAX,
  WEBP_LOSSY_ALPHA_PIXELS_MAX,
  WEBP_LOSSY_PIXELS_MAX,
} from '../limits.ts';
import { findFormat, type UploadType } from './formats.ts';

export function describeProcessingError(code: ProcessingErrorCode, contentType: string): string {
  const type = findFormat(contentType)?.content_type;
  const own = type === undefined ? undefined : sentences[type][code];
  return own ?? processingErrors[code].message;
}

type Sentences = Partial<Record<ProcessingErrorCode, string>>;

function raster(name: string, foreign: string, pixels: string): Sentences {
  return {
    unsupported_media_type: `This ${name} cannot be read: ${foreign}`,
    image_too_large: `The ${name} has too many pixels (at most ${pixels}), or is too costly to process: make it smaller.`,
    processing_timeout: 'Processing this image took too long three times. Make it smaller.',
    decode_failed: `The ${name} is corrupt or truncated. Export it again and upload the result.`,
  };
}

const OTHER_TYPE = 'it is of another type. Declare its actual type, or convert it.';
const mega = (pixels: number) => `${pixels / 1_000_000}`;

const sentences: Readonly<Record<UploadType, Sentences>> = {
  'image/jpeg': raster(
    'JPEG',
    'it is of another type, or has 12 bits, arithmetic coding or lossless coding. Export it as a JPEG of 8 bits.',
    `${mega(JPEG_PIXELS_MAX)} megapixels, ${JPEG_SIDE_PIXELS_MAX} pixels a side`,
  ),
  'image/png': raster(
    'PNG',
    OTHER_TYPE,
    `${mega(PNG_PIXELS_MAX)} megapixels, ${mega(DEEP_COLOR_PIXELS_MAX)} with 16 bits`,
  ),
  'image/webp': raster(
    'WebP',
    OTHER_TYPE,
    `${mega(WEBP_LOSSY_PIXELS_MAX)} megapixels, ${mega(WEBP_LOSSY_ALPHA_PIXELS_MAX)} with transparency; lossless ${mega(WEBP_LOSSLESS_PIXELS_MAX)}, ${mega(WEBP_LOSSLESS_ALPHA_PIXELS_MAX)} with transparency`,
  ),
  'image/avif': raster(
    'AVIF',
    'it is of another type, such as HEIC, or composed of other pictures. Export it as AVIF, JPEG or PNG.',
    `${mega(AVIF_PIXELS_MAX)} megapixels, ${AVIF_SIDE_PIXELS_MAX} pixels a side`,
  ),
  'image/gif': raster('GIF', OTHER_TYPE, `${mega(GIF_PIXELS_MAX)} megapixels`),
  'image/tiff': raster(
    'TIFF',
    "it is of another type, a camera's raw picture (DNG, NEF, CR2, ARW), or has a rare compression, rare colors or samples that are not whole numbers. Export it as JPEG, PNG or a TIFF of 8 or 16 bits.",
    `${mega(TIFF_PIXELS_MAX)} megapixels`,
  ),
  'image/bmp': raster(
    'BMP',
    'it is of another type, or has a rare encoding or an embedded color profile. Export it as PNG or a BMP of 24 bits.',
    `${mega(BMP_PIXELS_MAX)} megapixels`,
  ),
  'image/svg+xml': {
    unsupported_media_type:
      'This SVG is not accepted: it has a DOCTYPE or an embedded bitmap, is compressed, or is of another type. Delete the line that begins with <!DOCTYPE, and the bitmaps; unpack an SVGZ.',
    image_too_large:
      'The SVG is too costly to draw: nested too deep, with too many elements, layers, filters or styles, with too much text, or with a stroke or shape far larger than the picture. Simplify it.',
    processing_timeout: 'Drawing this SVG took too long three times. Simplify it.',
    decode_failed:
      'The SVG is not well-formed XML, or lacks its size (width and height, or a viewBox) or its namespace (xmlns="http://www.w3.org/2000/svg"). Add what is missing and upload it again.',
  },
};
