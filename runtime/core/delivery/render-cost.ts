// What a render will cost one core, from what is known before any byte is read. Weights were measured on photographs of
// 12 megapixels and rounded up; how this machine compares with them, a worker learns. Spec: Delivery refusals in
// checking order, busy.
import { AVIF_EFFORT_LOW_PIXELS_MIN } from '../limits.ts';
import type { OutputFormat, Size } from './geometry.ts';

/** What is decoded and resized: `source` is the object that is read, `window` its part, `output` what becomes of it. */
type Drawn = {
  readonly source: Picture;
  readonly window: Size;
  readonly output: Size;
};

/** A stored picture, by the facts that say how long it takes to decode. */
export type Picture = Size & { readonly content_type: string; readonly is_lossless: boolean };

/** All sizes in pixels; `watermark`: the picture that is drawn on top, which is always read whole, and its drawn size. */
export type RenderWork = Drawn & {
  readonly format: OutputFormat;
  readonly watermark?: { readonly source: Picture; readonly output: Size } | null;
};

/** Milliseconds of a core. */
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

/** Messages, processes, and a decoder that begins. */
const RENDER_MS = 10;
/** All in milliseconds a megapixel. */
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

/** A JPEG decoder can leave out what a smaller output does not need: 2, 4 or 8 times. */
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
