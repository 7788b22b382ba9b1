/**
 * Estimates the cost of an upload from its header alone: peak resident memory, and time of one core. The weights were
 * measured with the largest images of each format, and rounded up. Spec: Limits, Uploads; Processing error codes.
 */
import { JPEG_OPTIMIZED_PIXELS_MAX } from '../../core/limits.ts';
import type { JobCost } from '../sandbox/serve-jobs.ts';
import { HELD_BYTES_MAX } from './pixels.ts';
import { WEIGHED_PIXELS_MAX } from './resize-with-alpha.ts';
import { type HeaderFacts, sampleBytesOf } from './scan.ts';
import type { DrawingNeeds } from './svg/complexity.ts';

export function estimateCost(header: HeaderFacts, bytes: Buffer): JobCost {
  const pixels = header.width * header.height;
  const coded = Math.max(pixels, header.coded_pixels ?? 0);
  const { decoder, encoder, ms_per_megapixel } = weightsOf(header);
  const sampleBytes = sampleBytesOf(header);
  const whole = pixels * CHANNELS_MAX * sampleBytes;
  const isHeld = header.has_inks || whole <= HELD_BYTES_MAX;
  const channels = header.has_alpha || header.has_inks ? CHANNELS_MAX : COLORS;
  const turned = header.is_turned ? pixels * channels * sampleBytes : 0;
  const held = isHeld ? whole + turned : Math.max(HELD_BYTES_MAX, turned);
  const isTwice = header.is_premultiplied || header.layout !== undefined;
  const weighed = header.has_alpha ? WEIGHED_BYTES * Math.min(pixels, WEIGHED_PIXELS_MAX) : 0;
  const samples = held + weighed + (isTwice ? 2 * whole : 0);
  const decoding = coded * sampleBytes * decoder + (header.table_bytes ?? 0);
  const largest = Math.max(decoding, pixels * sampleBytes * encoder);
  const peak = Math.min(largest, PEAK_BYTES_MAX);
  const cpu_ms = (coded / 1_000_000) * ms_per_megapixel * sampleBytes;
  return {
    memory_bytes: Math.ceil(PROCESS_BYTES + COPIES * bytes.length + samples + peak),
    wall_clock_ms: Math.ceil(WALL_CLOCK_MS_MIN + SLOWER_THAN_ESTIMATED * cpu_ms),
  };
}

/** The cost of an SVG drawing, which has already been parsed. */
export function drawingCost(bytes: Buffer, { memory_bytes, cpu_ms }: DrawingNeeds): JobCost {
  return {
    memory_bytes: Math.ceil(
      PROCESS_BYTES + GRID_BYTES + DRAWING_COPIES * bytes.length + memory_bytes,
    ),
    wall_clock_ms: Math.ceil(WALL_CLOCK_MS_MIN + SLOWER_THAN_ESTIMATED * (GRID_MS + cpu_ms)),
  };
}

/** Node, libvips and their libraries. */
const PROCESS_BYTES = 140_000_000;
const CHANNELS_MAX = 4;
const COLORS = 3;
/** Per pixel of an image with alpha, while it is reduced. */
const WEIGHED_BYTES = 9;
/** The largest accepted images may be tried: the memory limit of their slot watches them. */
const PEAK_BYTES_MAX = 1_650_000_000;
/** The upload, and what is made from it. */
const COPIES = 3;
/** The raster image of a drawing, and what is made from it. */
const GRID_BYTES = 140_000_000;
const GRID_MS = 1250;
const DRAWING_COPIES = 60;
/** Generous, because a busy machine is not the image's fault. */
const WALL_CLOCK_MS_MIN = 20_000;
const SLOWER_THAN_ESTIMATED = 8;

/**
 * `decoder`, `encoder`: bytes of memory per pixel of 8 bits, in addition to the samples;
 * `ms_per_megapixel`: time of one core for them.
 */
type Weights = { decoder: number; encoder: number; ms_per_megapixel: number };

function weightsOf(header: HeaderFacts): Weights {
  const { is_progressive: isProgressive } = header;
  const isLarge = header.width * header.height > JPEG_OPTIMIZED_PIXELS_MAX;
  switch (header.content_type) {
    case 'image/jpeg':
      return {
        decoder: isProgressive ? (header.has_inks ? 9 : 6) : 0.3,
        encoder: isLarge ? 0.4 : 6,
        ms_per_megapixel: isProgressive ? 250 : 80,
      };
    case 'image/png':
      return { decoder: isProgressive ? 4 : 0.6, encoder: 0.6, ms_per_megapixel: 300 };
    case 'image/webp':
      // Alpha is coded losslessly, whatever the coding of the colors.
      return header.is_lossless
        ? { decoder: 8, encoder: 32, ms_per_megapixel: 1500 }
        : { decoder: 4, encoder: header.has_alpha ? 35 : 9, ms_per_megapixel: 500 };
    case 'image/avif':
      return {
        decoder: 18,
        encoder: header.bits_per_channel > 8 ? 36 : 50,
        ms_per_megapixel: 2000,
      };
    case 'image/gif':
      return { decoder: 5, encoder: 18, ms_per_megapixel: 600 };
    case 'image/tiff':
      return { decoder: 4, encoder: 0.6, ms_per_megapixel: 300 };
    case 'image/bmp':
      return { decoder: 4, encoder: 0.6, ms_per_megapixel: 300 };
  }
}
