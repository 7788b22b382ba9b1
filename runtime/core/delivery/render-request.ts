// The contract between delivery and a render worker: the request and the reply. Everything is decided before the
// message is sent; a worker reads, draws, stores and answers. Spec: Delivery host, Transform operations.
import { z } from 'zod';
import type { SourceFacts } from './geometry.ts';
import type { Box } from './operations.ts';
import { printDerivedKey, type RenderPlan } from './plan.ts';
import { type Picture, renderCostMs } from './render-cost.ts';
import { chooseSource, type Mezzanine } from './render-source.ts';

/**
 * One render. `source_key`: the object to read (the original or a half-way image); `window`: the
 * plan's window in that object's own pixels; `frame`: the size to which the window is resized, if
 * more than the output comes out; `derived_key`: where the result is stored; `cost_ms`: the
 * estimated cost for one core.
 */
export type RenderRequest = {
  readonly project_id: string;
  readonly derived_key: string;
  readonly source_key: string;
  readonly window: Box;
  readonly frame?: Box | undefined;
  readonly cost_ms: number;
  readonly plan: RenderPlan;
  /** Rendered in advance: requests that somebody waits for go first. */
  readonly is_warm?: true | undefined;
};

/** The facts about a published file that a render needs. */
export type RenderableFile = SourceFacts & {
  readonly file_id: string;
  readonly revision: number;
  readonly object_key: string;
  readonly mezzanines: readonly Mezzanine[];
};

/** A plan with the stored image of its watermark, if it has one. */
export type PlannedRender = { readonly plan: RenderPlan; readonly watermark: Picture | null };

/** The request for a plan: what to read, where to store, the cost. */
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

/**
 * A stored result; `bytes` is null when it is too long for a message and must be read from storage.
 */
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

/** The fields that every drawing needs, whatever its purpose. */
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

/** Parses a request from the queue; throws a ZodError for anything else. */
export const renderRequestSchema: z.ZodType<RenderRequest> = z.strictObject({
  ...drawingFields,
  derived_key: z.string(),
  is_warm: z.literal(true).optional(),
});

/** Parses a reply from the queue. */
export const renderReplySchema: z.ZodType<RenderReply> = z.strictObject({
  content_type: z.string(),
  size_bytes: z.int().min(1),
  bytes: z.instanceof(Uint8Array).nullable(),
});
