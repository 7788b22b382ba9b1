/**
 * The encoders of stored images: the master in its own format, as close to the upload as the format allows, and the
 * half-way images that renders read. Efforts are the measured best trade-off of time and bytes.
 */
import type { AvifOptions, PngOptions } from 'sharp';
import { findFormat, type StoredType } from '../../core/image/formats.ts';
import {
  AVIF_EFFORT_LOW_PIXELS_MIN,
  JPEG_OPTIMIZED_PIXELS_MAX,
  MEZZANINE_JPEG_QUALITY,
  STORED_QUALITY_MAX,
  STORED_QUALITY_MIN,
  STORED_WEBP_QUALITY_MIN,
} from '../../core/limits.ts';
import { dropDensity } from './drop-density.ts';
import { hasFineColor } from './fine-color.ts';
import type { Pixels } from './pixels.ts';
import type { HeaderFacts } from './scan.ts';

/** The stored types of raster images. */
export type RasterType = Exclude<StoredType, 'image/svg+xml'>;

/**
 * With more bytes per pixel, a lossless half-way image is a photograph: a fine JPEG is stored
 * instead.
 */
const EXACT_BYTES_PER_PIXEL_MAX = 1;
const SAMPLE_SIDE_PX = 384;
/**
 * For uploads above it, optimized coding takes more than twice the time to save one or two percent
 * of the bytes.
 */
const DETAILED_BYTES_PER_PIXEL_MIN = 0.2;
const OPTIMIZED_ALWAYS_PIXELS_MAX = 2_000_000;
/** Filtered rows compress well at a low level; unfiltered ones need the search. */
const FILTERED: PngOptions = { adaptiveFiltering: true, compressionLevel: 4 };
const UNFILTERED: PngOptions = { adaptiveFiltering: false, compressionLevel: 6 };
const FAST_LEVEL = 2;
const AVIF_EFFORT = 1;
const AVIF_EFFORT_LOW = 0;
/** At this effort the palette of the upload is kept; less effort rounds its colors. */
const GIF = { effort: 7, dither: 0 };
const WEBP_EFFORT = 2;
/**
 * For lossless WebP the quality is the effort of the search; above this number of pixels a search
 * takes minutes.
 */
const WEBP_LOSSLESS_SEARCH_PIXELS_MAX = 8_000_000;
const WEBP_LOSSLESS_SEARCHED = { lossless: true, exact: true, effort: 1, quality: 75 };
const WEBP_LOSSLESS_QUICK = { lossless: true, exact: true, effort: 0, quality: 20 };

export async function encodeMaster(
  pixels: Pixels,
  header: HeaderFacts,
  uploadBytes: number,
): Promise<Buffer> {
  switch (masterType(header)) {
    case 'image/jpeg':
      return pixels
        .open()
        .jpeg(jpegOptions(pixels, header, uploadBytes))
        .toBuffer();
    case 'image/png': {
      const options = header.is_palette ? UNFILTERED : await pngOptions(pixels);
      return dropDensity(await pixels.open().png(options).toBuffer());
    }
    case 'image/webp':
      return pixels.open().webp(webpOptions(pixels, header)).toBuffer();
    case 'image/avif':
      return pixels.open().avif(avifOptions(pixels, header)).toBuffer();
    case 'image/gif':
      return pixels.open().gif(GIF).toBuffer();
  }
}

/** The upload's own format, or the lossless one stored in its place. */
export function masterType({ content_type }: HeaderFacts): RasterType {
  const type = findFormat(content_type)?.stored_as;
  if (type === undefined || type === 'image/svg+xml') throw new Error(`no pixels: ${content_type}`);
  return type;
}

/** 8 bit; lossless when lines and flat areas would show a difference, otherwise a fine JPEG. */
export async function encodeMezzanine(
  pixels: Pixels,
  header: HeaderFacts,
): Promise<{ content_type: string; bytes: Buffer }> {
  if (!header.is_lossless && !header.has_alpha) return jpegMezzanine(pixels, header);
  const exact = await pngMezzanine(pixels);
  const isPhotograph =
    exact.bytes.length > pixels.width * pixels.height * EXACT_BYTES_PER_PIXEL_MAX;
  return isPhotograph && !header.has_alpha ? jpegMezzanine(pixels, header) : exact;
}

/**
 * 4:2:0 sources stay 4:2:0, because a render is so much smaller than what it reads; except colored
 * text and drawings, whose edges would change color.
 */
export async function mezzanineChroma(
  smallest: Pixels,
  { chroma }: HeaderFacts,
): Promise<HeaderFacts['chroma']> {
  if (chroma === null || chroma === '4:4:4') return chroma;
  return (await hasFineColor(smallest)) ? '4:4:4' : chroma;
}

/** Optimized coding would take twice the time to save two percent of the bytes. */
async function jpegMezzanine(pixels: Pixels, { chroma }: HeaderFacts) {
  const options = {
    quality: MEZZANINE_JPEG_QUALITY,
    chromaSubsampling: chroma ?? '4:4:4',
    optimiseCoding: false,
  };
  return { content_type: 'image/jpeg', bytes: await pixels.open().jpeg(options).toBuffer() };
}

async function pngMezzanine(pixels: Pixels) {
  const options = { ...(await pngOptions(pixels)), compressionLevel: FAST_LEVEL };
  return { content_type: 'image/png', bytes: await pixels.open().png(options).toBuffer() };
}

function jpegOptions(pixels: Pixels, header: HeaderFacts, uploadBytes: number) {
  return {
    quality: Math.min(header.quality ?? STORED_QUALITY_MAX, STORED_QUALITY_MAX),
    chromaSubsampling: header.chroma ?? '4:4:4',
    progressive: false,
    optimiseCoding: isWorthOptimizing(pixels, uploadBytes),
  };
}

/** Optimized coding keeps every coefficient of the image in memory, and reads them twice. */
function isWorthOptimizing({ width, height }: Pixels, uploadBytes: number): boolean {
  const count = width * height;
  if (count <= OPTIMIZED_ALWAYS_PIXELS_MAX) return true;
  return count <= JPEG_OPTIMIZED_PIXELS_MAX && uploadBytes < count * DETAILED_BYTES_PER_PIXEL_MIN;
}

/**
 * Row filters make photographs smaller and drawings larger; a sample from the middle of the image
 * decides.
 */
async function pngOptions(pixels: Pixels): Promise<PngOptions> {
  const width = Math.min(pixels.width, SAMPLE_SIDE_PX);
  const height = Math.min(pixels.height, SAMPLE_SIDE_PX);
  const left = Math.floor((pixels.width - width) / 2);
  const top = Math.floor((pixels.height - height) / 2);
  const sampleBytes = async (options: PngOptions) => {
    const sample = pixels.open().extract({ left, top, width, height });
    return (await sample.png({ ...options, compressionLevel: FAST_LEVEL }).toBuffer()).length;
  };
  // One at a time: each may decode the image again, and hold all of it.
  const filtered = await sampleBytes(FILTERED);
  return filtered < (await sampleBytes(UNFILTERED)) ? FILTERED : UNFILTERED;
}

/** The bit depth is also the upload's own. */
function avifOptions(pixels: Pixels, header: HeaderFacts): AvifOptions {
  const isLarge = pixels.width * pixels.height > AVIF_EFFORT_LOW_PIXELS_MIN;
  const { bits_per_channel: bits } = header;
  return {
    quality: storedQuality(header),
    chromaSubsampling: header.chroma ?? '4:4:4',
    effort: isLarge ? AVIF_EFFORT_LOW : AVIF_EFFORT,
    tune: 'iq',
    bitdepth: bits === 10 || bits === 12 ? bits : 8,
  };
}

function webpOptions(pixels: Pixels, header: HeaderFacts) {
  if (!header.is_lossless) {
    const quality = Math.max(storedQuality(header), STORED_WEBP_QUALITY_MIN);
    return { quality, alphaQuality: 100, effort: WEBP_EFFORT };
  }
  const isSearched = pixels.width * pixels.height <= WEBP_LOSSLESS_SEARCH_PIXELS_MAX;
  return isSearched ? WEBP_LOSSLESS_SEARCHED : WEBP_LOSSLESS_QUICK;
}

function storedQuality({ quality }: HeaderFacts): number {
  return Math.min(Math.max(quality ?? STORED_QUALITY_MAX, STORED_QUALITY_MIN), STORED_QUALITY_MAX);
}
