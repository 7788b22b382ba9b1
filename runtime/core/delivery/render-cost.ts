// Estimates the cost of a render for one core, from facts known before any byte is read. The weights were measured on
// photographs of 12 megapixels and rounded up; each worker learns how its machine compares. Spec: Delivery refusals in
// checking order, busy.
import { AVIF_EFFORT_LOW_PIXELS_MIN } from '../limits.ts';
import type { OutputFormat, Size } from './geometry.ts';

/**
 * What is decoded and resized: `source` is the object read, `window` the part taken from it,
 * `output` the resulting size.
 */
type Drawn = {
  readonly source: Picture;
  readonly window: Size;
  readonly output: Size;
};

/** A stored image, by the facts that determine its decoding time. */
export type Picture = Size & { readonly content_type: string; readonly is_lossless: boolean };

/**
 * All sizes in pixels; `watermark`: the image drawn on top, which is always read whole, and its
 * drawn size.
 */
export type RenderWork = Drawn & {
  readonly format: OutputFormat;
  readonly watermark?: { readonly source: Picture; readonly output: Size } | null;
};

/** The cost in milliseconds of one core. */
export function renderCostMs({ watermark, format, ...picture }: RenderWork): number {
  const { output } = picture;
  const overlay = watermark ? drawCost({ ...watermark, window: watermark.source }) : 0;
  const encoded = megapixels(output) * encodeWeight(output, format);
  return Math.ceil(RENDER_MS + drawCost(picture) + overlay + encoded);
}

function drawCost({ source, window, output }: Drawn): number {
  const read = megapixels(source) * decodeWeight(source, shrinkOnLoad(window, output));
  return read + Math.max(megapixels(window), megapixels(output)) * RESIZE_MS;
}

/** The fixed part: messages, processes, and the start of a decoder. */
const RENDER_MS = 10;
/** All in milliseconds per megapixel. */
const RESIZE_MS = 5;
const JPEG_ENTROPY_MS = 4;
const JPEG_PIXELS_MS = 8;
const DECODE_MS: Readonly<Record<string, number>> = {
  'image/png': 30,
  'image/webp': 20,
  'image/avif': 60,
  'image/gif': 15,
};
const WEBP_LOSSLESS_MS = 45;
const ENCODE_MS: Readonly<Record<OutputFormat, number>> = {
  jpeg: 20,
  png: 60,
  webp: 60,
  avif: 350,
  gif: 700,
};
const AVIF_FAST_MS = 120;

function decodeWeight({ content_type, is_lossless }: Picture, shrink: number): number {
  if (content_type === 'image/jpeg') return JPEG_ENTROPY_MS + JPEG_PIXELS_MS / shrink ** 2;
  if (content_type === 'image/webp' && is_lossless) return WEBP_LOSSLESS_MS;
  return DECODE_MS[content_type] ?? Math.max(...Object.values(DECODE_MS));
}

/** A JPEG decoder can reduce the image while decoding, by a factor of 2, 4 or 8. */
function shrinkOnLoad(window: Size, output: Size): number {
  const ratio = Math.min(window.width / output.width, window.height / output.height);
  return [8, 4, 2].find((factor) => ratio >= factor) ?? 1;
}

function encodeWeight(output: Size, format: OutputFormat): number {
  const isFast = format === 'avif' && output.width * output.height > AVIF_EFFORT_LOW_PIXELS_MIN;
  return isFast ? AVIF_FAST_MS : ENCODE_MS[format];
}

function megapixels({ width, height }: Size): number {
  return (width * height) / 1_000_000;
}
