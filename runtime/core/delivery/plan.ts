// What one render does, decided before any pixel is read: window, size, format, quality, watermark. Spec: Delivery
// host, Transform operations; Output rules. Chains with the same meaning give the same plan, and the plan's text is the
// key of rendered objects and entity tags.
import { createHash } from 'node:crypto';
import {
  AVIF_QUALITY_DEFAULT,
  JPEG_QUALITY_DEFAULT,
  PNG_QUALITY_DEFAULT,
  QUALITY_MAX,
  WEBP_QUALITY_DEFAULT,
} from '../limits.ts';
import { type Geometry, geometry, type OutputFormat, type SourceFacts } from './geometry.ts';
import type { ParsedChain } from './operations.ts';
import { placeWatermark, type WatermarkFacts, type WatermarkPlan } from './watermark.ts';

/**
 * One render. `window` is in whole pixels of the oriented source, `output` in pixels; `quality` is
 * 1..100, null for a format without quality (gif); the watermark is already placed, in output
 * pixels.
 */
export type RenderPlan = Geometry & {
  readonly format: OutputFormat;
  readonly quality: number | null;
  readonly watermark: WatermarkPlan | null;
};

/**
 * Plans the render of an expanded chain (presets replaced by their operations). `watermark` is the
 * applicable preset, see `chooseWatermark`. Undefined when the output rules require a 404.
 */
export function planRender(input: {
  readonly source: SourceFacts;
  readonly chain: ParsedChain;
  readonly watermark: WatermarkFacts | null;
}): RenderPlan | undefined {
  const format = outputFormat(input.source, input.chain);
  const shape = geometry(input.source, input.chain, format);
  if (shape === undefined) return undefined;
  const quality = planQuality(format, input.chain.quality);
  return { ...shape, format, quality, watermark: placeWatermark(input.watermark, shape.output) };
}

/**
 * Increase it when the same plan gives different bytes (new encoder, new encoder settings, another
 * choice of the source image), so that no earlier render is served again.
 */
export const ENCODER_EPOCH = 5;

/** The plan as one line: equal for equal plans, different for different ones. */
export function printPlan({ window, output, format, quality, watermark }: RenderPlan): string {
  return JSON.stringify([
    [window.x, window.y, window.width, window.height],
    [output.width, output.height],
    format,
    quality,
    watermark && [
      watermark.object_key,
      watermark.revision_tag,
      [watermark.x, watermark.y, watermark.width, watermark.height],
      watermark.opacity,
    ],
  ]);
}

/**
 * The key of the rendered object. A project's generation rises with every purge, so a purge changes
 * every key at once; a file's revision does the same for one file. A revision's number may repeat
 * after the database was restored from a backup; the key of its bytes never does.
 */
export function printDerivedKey(input: {
  readonly project_id: string;
  readonly generation: number;
  readonly file_id: string;
  readonly revision: number;
  readonly object_key: string;
  readonly plan: RenderPlan;
}): string {
  const { project_id, generation, file_id, revision, object_key, plan } = input;
  const text = JSON.stringify([ENCODER_EPOCH, object_key, printPlan(plan)]);
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 40);
  return `derived/${project_id}/${generation}/${file_id}/${revision}/${hash}.${plan.format}`;
}

/** The PNG compression level, 0..9, for a quality: 100 is fastest, 1 is smallest. */
export function pngCompressionLevel(quality: number): number {
  return Math.floor(9 - (quality - 1) / 11 + 0.5);
}

const STORED_FORMATS = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/gif': 'gif',
  'image/svg+xml': 'png',
} as const satisfies Record<SourceFacts['content_type'], OutputFormat>;

function outputFormat(source: SourceFacts, chain: ParsedChain): OutputFormat {
  return chain.format ?? STORED_FORMATS[source.content_type];
}

const QUALITY_DEFAULTS = {
  jpeg: JPEG_QUALITY_DEFAULT,
  webp: WEBP_QUALITY_DEFAULT,
  avif: AVIF_QUALITY_DEFAULT,
  png: PNG_QUALITY_DEFAULT,
} as const;

function planQuality(format: OutputFormat, asked: number | undefined): number | null {
  if (format === 'gif') return null;
  const quality = asked ?? QUALITY_DEFAULTS[format];
  return format === 'png' ? highestOfLevel(pngCompressionLevel(quality)) : quality;
}

// Eleven qualities share a PNG level; the highest one represents them, so that they share a plan.
function highestOfLevel(level: number): number {
  const qualities = Array.from({ length: QUALITY_MAX }, (_, at) => QUALITY_MAX - at);
  return qualities.find((quality) => pngCompressionLevel(quality) === level) ?? QUALITY_MAX;
}
