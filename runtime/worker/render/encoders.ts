/**
 * The encoder of each output format. Spec: Output rules; Transform operations, quality. Efforts are
 * the measured best of time against bytes; a change of any of them raises the encoder epoch.
 */
import type { Sharp } from 'sharp';
import type { OutputFormat } from '../../core/delivery/geometry.ts';
import type { RenderPlan } from '../../core/delivery/plan.ts';
import { pngCompressionLevel } from '../../core/delivery/plan.ts';
import {
  AVIF_EFFORT_LOW_PIXELS_MIN,
  CHROMA_FULL_QUALITY_MIN,
  JPEG_OPTIMISED_PIXELS_MAX,
  QUALITY_MAX,
} from '../../core/limits.ts';

const WEBP_EFFORT = 2;
const AVIF_EFFORT = 1;
const AVIF_EFFORT_LOW = 0;
/** By name: the library would choose by what its encoder can do, and another choice is another image of the same epoch. */
const AVIF_TUNE = 'iq';
/**
 * A palette of its own: the library would keep the source's, and resizing makes colours that are not in it. Dithered,
 * as soft colours would band. Less effort makes a worse palette of a photograph than the source had.
 */
const GIF = { reuse: false, effort: 4, dither: 1 };

type EncodeFacts = { quality: number; pixels: number };

const encoders: Readonly<Record<OutputFormat, (picture: Sharp, facts: EncodeFacts) => Sharp>> = {
  jpeg: (picture, { quality, pixels }) =>
    picture.jpeg({
      quality,
      chromaSubsampling: chroma(quality),
      progressive: false,
      optimiseCoding: pixels <= JPEG_OPTIMISED_PIXELS_MAX,
    }),
  // A PNG quality option would quantise: only the level is ours to choose.
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
