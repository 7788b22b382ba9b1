/**
 * The encoders of what is kept: the stored image in its own format, as near to the upload as that format
 * allows, and the half-way images that renders read. Efforts are the measured best of time against bytes.
 */
import type { AvifOptions, PngOptions } from 'sharp';
import { findFormat, type StoredType } from '../../core/image/formats.ts';
import {
  AVIF_EFFORT_LOW_PIXELS_MIN,
  JPEG_OPTIMISED_PIXELS_MAX,
  MEZZANINE_JPEG_QUALITY,
  STORED_QUALITY_MAX,
  STORED_QUALITY_MIN,
  STORED_WEBP_QUALITY_MIN,
} from '../../core/limits.ts';
import { dropDensity } from './drop-density.ts';
import { hasFineColour } from './fine-colour.ts';
import type { Pixels } from './pixels.ts';
import type { HeaderFacts } from './scan.ts';

/** What a picture of pixels is stored as. */
export type RasterType = Exclude<StoredType, 'image/svg+xml'>;

/** Above so many bytes a pixel an exact half-way image is a photograph: a fine JPEG stands in for it. */
const EXACT_BYTES_PER_PIXEL_MAX = 1;
const SAMPLE_SIDE_PX = 384;
/** Of an upload: above, optimised coding takes more than twice the time for one or two bytes in a hundred. */
const DETAILED_BYTES_PER_PIXEL_MIN = 0.2;
const OPTIMISED_ALWAYS_PIXELS_MAX = 2_000_000;
/** Filtered rows pack well at once; unfiltered ones need the search. */
const FILTERED: PngOptions = { adaptiveFiltering: true, compressionLevel: 4 };
const UNFILTERED: PngOptions = { adaptiveFiltering: false, compressionLevel: 6 };
const FAST_LEVEL = 2;
const AVIF_EFFORT = 1;
const AVIF_EFFORT_LOW = 0;
/** As many colours as the upload had come out as they went in; less effort rounds them. */
const GIF = { effort: 7, dither: 0 };
const WEBP_EFFORT = 2;
/** Of lossless WebP the quality is how long it searches; above so many pixels a search takes minutes. */
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

/** Its own format, or the lossless one that stands for it. */
export function masterType({ content_type }: HeaderFacts): RasterType {
  const type = findFormat(content_type)?.stored_as;
  if (type === undefined || type === 'image/svg+xml') throw new Error(`no pixels: ${content_type}`);
  return type;
}

/** 8 bit, exact where lines and flat areas would show a difference, else a fine JPEG. */
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
 * Where colour came halved it stays so, a render being that much smaller than what it reads; but not in coloured text
 * and drawings, whose edges would change colour.
 */
export async function mezzanineChroma(
  smallest: Pixels,
  { chroma }: HeaderFacts,
): Promise<HeaderFacts['chroma']> {
  if (chroma === null || chroma === '4:4:4') return chroma;
  return (await hasFineColour(smallest)) ? '4:4:4' : chroma;
}

/** Optimised coding would take twice the time for two bytes in a hundred. */
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
    optimiseCoding: isWorthOptimising(pixels, uploadBytes),
  };
}

/** Optimised coding holds every coefficient of the picture in memory, and goes over them twice. */
function isWorthOptimising({ width, height }: Pixels, uploadBytes: number): boolean {
  const count = width * height;
  if (count <= OPTIMISED_ALWAYS_PIXELS_MAX) return true;
  return count <= JPEG_OPTIMISED_PIXELS_MAX && uploadBytes < count * DETAILED_BYTES_PER_PIXEL_MIN;
}

/** Photographs shrink by row filters, drawings grow: the middle of the picture says which it is. */
async function pngOptions(pixels: Pixels): Promise<PngOptions> {
  const width = Math.min(pixels.width, SAMPLE_SIDE_PX);
  const height = Math.min(pixels.height, SAMPLE_SIDE_PX);
  const left = Math.floor((pixels.width - width) / 2);
  const top = Math.floor((pixels.height - height) / 2);
  const sampleBytes = async (options: PngOptions) => {
    const sample = pixels.open().extract({ left, top, width, height });
    return (await sample.png({ ...options, compressionLevel: FAST_LEVEL }).toBuffer()).length;
  };
  // One after the other: each may decode the picture anew, and hold all of it.
  const filtered = await sampleBytes(FILTERED);
  return filtered < (await sampleBytes(UNFILTERED)) ? FILTERED : UNFILTERED;
}

/** Depth, too, is the upload's own. */
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
