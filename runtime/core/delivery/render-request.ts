// What delivery asks of a render worker, and what it gets back: the one contract between the two.
// Everything is decided before the message is sent; a worker reads, draws, stores and answers.
// Spec: Delivery host, Transform operations.
import { z } from 'zod';
import type { SourceFacts } from './geometry.ts';
import type { Box } from './operations.ts';
import { printDerivedKey, type RenderPlan } from './plan.ts';
import { type Picture, renderCostMs } from './render-cost.ts';
import { chooseSource, type Mezzanine } from './render-source.ts';

/**
 * One render. `source_key` is the object to read (the original or a half-way image), `window` the
 * plan's window in that object's own pixels, `frame` what that is resized to where more than the output comes
 * out, `derived_key` where the result is stored, `cost_ms` what it is estimated to cost one core.
 */
export type RenderRequest = {
  readonly project_id: string;
  readonly derived_key: string;
  readonly source_key: string;
  readonly window: Box;
  readonly frame?: Box | undefined;
  readonly cost_ms: number;
  readonly plan: RenderPlan;
  /** Rendered before anybody asks: whoever waits goes first. */
  readonly is_warm?: true | undefined;
};

/** A published file, as far as a render of it goes. */
export type RenderableFile = SourceFacts & {
  readonly file_id: string;
  readonly revision: number;
  readonly object_key: string;
  readonly mezzanines: readonly Mezzanine[];
};

/** What is to be drawn; `watermark` is the stored picture of the plan's watermark, where it has one. */
export type PlannedRender = { readonly plan: RenderPlan; readonly watermark: Picture | null };

/** The render of a plan: what to read, where to store, what it costs. */
export function requestRender(
  { project_id, generation }: { readonly project_id: string; readonly generation: number },
  file: RenderableFile,
  { plan, watermark }: PlannedRender,
): RenderRequest {
  const { file_id, revision, object_key } = file;
  const { object, ...place } = chooseSource(plan, file, file.mezzanines);
  const source = object === 'original' ? file : { ...object, is_lossless: false };
  const { output, format } = plan;
  const overlay = watermark && plan.watermark && { source: watermark, output: plan.watermark };
  return {
    project_id,
    derived_key: printDerivedKey({
      ...{ project_id, generation, file_id, revision, object_key, plan },
    }),
    source_key: source.object_key,
    ...place,
    cost_ms: renderCostMs({ source, ...place, output, format, watermark: overlay }),
    plan,
  };
}

/** A stored result; `bytes` is null where it is too long for a message and is read from storage. */
export type RenderReply = {
  readonly content_type: string;
  readonly size_bytes: number;
  readonly bytes: Uint8Array | null;
};

const size = { width: z.int().min(1), height: z.int().min(1) };
const box = z.strictObject({ x: z.int().min(0), y: z.int().min(0), ...size });
const watermark = z.strictObject({
  object_key: z.string(),
  revision_tag: z.string(),
  ...box.shape,
  opacity: z.number().min(1).max(100),
});

/** What every drawing is told, whatever becomes of it. */
export const drawingFields = {
  project_id: z.string(),
  source_key: z.string(),
  window: box,
  frame: box.optional(),
  cost_ms: z.number().positive(),
  plan: z.strictObject({
    window: box,
    output: z.strictObject(size),
    format: z.enum(['jpeg', 'png', 'webp', 'avif', 'gif']),
    quality: z.int().min(1).max(100).nullable(),
    watermark: watermark.nullable(),
  }),
};

/** Reads a request off the queue; throws a ZodError where it is none. */
export const renderRequestSchema: z.ZodType<RenderRequest> = z.strictObject({
  ...drawingFields,
  derived_key: z.string(),
  is_warm: z.literal(true).optional(),
});

/** Reads a reply off the queue. */
export const renderReplySchema: z.ZodType<RenderReply> = z.strictObject({
  content_type: z.string(),
  size_bytes: z.int().min(1),
  bytes: z.instanceof(Uint8Array).nullable(),
});
