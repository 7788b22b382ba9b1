/**
 * The encoder of each output format. Spec: Output rules; Transform operations, quality. Efforts are the measured best
 * trade-off of time and bytes; changing any of them requires a higher encoder epoch.
 */
import type { Sharp } from 'sharp';
import type { OutputFormat } from '../../core/delivery/geometry.ts';
import type { RenderPlan } from '../../core/delivery/plan.ts';
import { pngCompressionLevel } from '../../core/delivery/plan.ts';
import {
  AVIF_EFFORT_LOW_PIXELS_MIN,
  CHROMA_FULL_QUALITY_MIN,
  JPEG_OPTIMIZED_PIXELS_MAX,
  QUALITY_MAX,
} from '../../core/limits.ts';

const WEBP_EFFORT = 2;
const AVIF_EFFORT = 1;
const AVIF_EFFORT_LOW = 0;
/**
 * Explicit, because the library would choose by its encoder's abilities, and give a different image
 * in the same epoch.
 */
const AVIF_TUNE = 'iq';
/**
 * A new palette: the library would keep the source's, which lacks the colors that resizing
 * creates. Dithered, because soft colors would band. Less effort gives a photograph a worse
 * palette than its source had.
 */
const GIF = { reuse: false, effort: 4, dither: 1 };

type EncodeFacts = { quality: number; pixels: number };

const encoders: Readonly<Record<OutputFormat, (picture: Sharp, facts: EncodeFacts) => Sharp>> = {
  jpeg: (picture, { quality, pixels }) =>
    picture.jpeg({
      quality,
      chromaSubsampling: chroma(quality),
      progressive: false,
      optimiseCoding: pixels <= JPEG_OPTIMIZED_PIXELS_MAX,
    }),
  // PNG's quality option would quantize; only the compression level is used.
  png: (picture, { quality }) => picture.png({ compressionLevel: pngCompressionLevel(quality) }),
  webp: (picture, { quality }) => picture.webp({ quality, effort: WEBP_EFFORT }),
  avif: (picture, { quality, pixels }) =>
    picture.avif({
      quality,
      chromaSubsampling: chroma(quality),
      effort: pixels > AVIF_EFFORT_LOW_PIXELS_MIN ? AVIF_EFFORT_LOW : AVIF_EFFORT,
      tune: AVIF_TUNE,
    }),
  gif: (picture) => picture.gif(GIF),
};

export function encode(
  picture: Sharp,
  plan: Pick<RenderPlan, 'format' | 'quality' | 'output'>,
): Sharp {
  const pixels = plan.output.width * plan.output.height;
  return encoders[plan.format](picture, { quality: plan.quality ?? QUALITY_MAX, pixels });
}

function chroma(quality: number): '4:2:0' | '4:4:4' {
  return quality < CHROMA_FULL_QUALITY_MIN ? '4:2:0' : '4:4:4';
}
