/**
 * The encoders of what is kept: the stored image in its own format as near to the upload as that format
 * allows, and the half-way images that renders read. Measured choices, see the decisions on delivery.
 */
import {
  JPEG_OPTIMISED_PIXELS_MAX,
  MEZZANINE_JPEG_QUALITY,
  STORED_QUALITY_MAX,
  STORED_QUALITY_MIN,
} from '../../core/limits.ts';
import type { Pixels } from './pixels.ts';
import type { HeaderFacts } from './scan.ts';

/** Above so many bytes a pixel a lossless picture is a photograph, and a fine JPEG stands in for it. */
const LOSSLESS_BYTES_PER_PIXEL_MAX = 1;

export async function encodeMaster(pixels: Pixels, header: HeaderFacts): Promise<Buffer> {
  const picture = pixels.open();
  switch (header.content_type) {
    case 'image/jpeg':
      return picture.jpeg(jpegOptions(pixels, header)).toBuffer();
    case 'image/png':
      return picture.png(pngOptions(header)).toBuffer();
    case 'image/webp':
      return picture.webp(webpOptions(header)).toBuffer();
  }
}

/** 8 bit, exact where lines and flat areas would show a difference, else a fine JPEG. */
export async function encodeMezzanine(
  pixels: Pixels,
  header: HeaderFacts,
): Promise<{ content_type: string; bytes: Buffer }> {
  if (header.has_alpha) return webpMezzanine(pixels);
  if (!header.is_lossless) return jpegMezzanine(pixels);
  const exact = await pngMezzanine(pixels);
  const isPhotograph =
    exact.bytes.length > pixels.width * pixels.height * LOSSLESS_BYTES_PER_PIXEL_MAX;
  return isPhotograph ? jpegMezzanine(pixels) : exact;
}

async function jpegMezzanine(pixels: Pixels) {
  const bytes = await pixels
    .open()
    .jpeg({ quality: MEZZANINE_JPEG_QUALITY, chromaSubsampling: '4:4:4' })
    .toBuffer();
  return { content_type: 'image/jpeg', bytes };
}

async function pngMezzanine(pixels: Pixels) {
  const bytes = await pixels
    .open()
    .png({ compressionLevel: 2, adaptiveFiltering: true })
    .toBuffer();
  return { content_type: 'image/png', bytes };
}

async function webpMezzanine(pixels: Pixels) {
  const bytes = await pixels.open().webp({ lossless: true, effort: 0 }).toBuffer();
  return { content_type: 'image/webp', bytes };
}

function jpegOptions(pixels: Pixels, header: HeaderFacts) {
  return {
    quality: storedQuality(header),
    chromaSubsampling: header.chroma ?? '4:4:4',
    progressive: false,
    // Optimised coding holds every coefficient of the picture in memory.
    optimiseCoding: pixels.width * pixels.height <= JPEG_OPTIMISED_PIXELS_MAX,
  };
}

function pngOptions(header: HeaderFacts) {
  return { compressionLevel: 6, adaptiveFiltering: !header.is_palette, palette: false };
}

function webpOptions(header: HeaderFacts) {
  return header.is_lossless
    ? { lossless: true, exact: true, effort: 2 }
    : { quality: storedQuality(header), alphaQuality: 100, effort: 2 };
}

function storedQuality({ quality }: HeaderFacts): number {
  return Math.min(Math.max(quality ?? STORED_QUALITY_MAX, STORED_QUALITY_MIN), STORED_QUALITY_MAX);
}
