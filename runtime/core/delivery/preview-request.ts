// The preview of a revision for staff and the scanner: the whole image, reduced, drawn by a render worker and stored
// nowhere. This is the contract between callers and worker. Spec: Staff previews.
import { z } from 'zod';
import { PREVIEW_READ_SECONDS_MAX, RENDER_DEADLINE_SECONDS } from '../limits.ts';
import type { OutputFormat, Size } from './geometry.ts';
import { renderCostMs } from './render-cost.ts';
import { drawingFields, type RenderableFile, type RenderRequest } from './render-request.ts';
import { chooseSource } from './render-source.ts';

/**
 * The form of a preview: fitted into a box and never enlarged, or a square of exactly this size.
 */
export type Rendition = {
  readonly fit: 'box' | 'square';
  readonly pixels: number;
  readonly format: OutputFormat;
  readonly quality: number;
};

/** One preview. `read_ms_max` limits the time for reading its source. */
export type PreviewRequest = Omit<RenderRequest, 'derived_key' | 'is_warm'> & {
  readonly read_ms_max: number;
};

/** `unread`: the storage did not deliver the source in time. */
export type PreviewReply =
  | { readonly outcome: 'done'; readonly content_type: string; readonly bytes: Uint8Array }
  | { readonly outcome: 'missing' | 'unread' }
  | { readonly outcome: 'undrawable'; readonly reason: string };

const READ_MS_MAX = PREVIEW_READ_SECONDS_MAX * 1000;
/** How long its caller waits: until the source is read, and the preview drawn. */
export const PREVIEW_DEADLINE_MS = READ_MS_MAX + RENDER_DEADLINE_SECONDS * 1000;

export function requestPreview(
  { project_id, ...file }: PreviewSource,
  rendition: Rendition,
): PreviewRequest {
  const { format, quality } = rendition;
  const { width, height } = file;
  const output = outputOf(file, rendition);
  const plan = { window: { x: 0, y: 0, width, height }, output, format, quality, watermark: null };
  const { object, ...place } = chooseSource(plan, file, file.mezzanines);
  const source = object === 'original' ? file : { ...object, is_lossless: false };
  const { object_key: source_key } = source;
  const cost_ms = renderCostMs({ source, ...place, output, format });
  return { project_id, source_key, ...place, cost_ms, plan, read_ms_max: READ_MS_MAX };
}

/** The facts about a revision that a preview needs. */
export type PreviewSource = Omit<RenderableFile, 'file_id' | 'revision'> & {
  readonly project_id: string;
};

function outputOf({ width, height }: Size, { fit, pixels }: Rendition): Size {
  if (fit === 'square') return { width: pixels, height: pixels };
  const scale = Math.min(1, pixels / Math.max(width, height));
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: side(width), height: side(height) };
}

/** Parses a request from the queue. */
export const previewRequestSchema: z.ZodType<PreviewRequest> = z.strictObject({
  ...drawingFields,
  read_ms_max: z.int().min(1),
});

/** Parses a reply from the queue. */
export const previewReplySchema: z.ZodType<PreviewReply> = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('done'),
    content_type: z.string(),
    bytes: z.instanceof(Uint8Array),
  }),
  z.strictObject({ outcome: z.enum(['missing', 'unread']) }),
  z.strictObject({ outcome: z.literal('undrawable'), reason: z.string() }),
]);
