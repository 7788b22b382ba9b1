/**
 * The parent's side of an ingest job. The child has processed hostile bytes, so its answer is validated like a
 * stranger's before anything of it is stored.
 */
import { z } from 'zod';
import type { processingErrors } from '../../core/errors.ts';
import { SANITIZED_BYTES_MAX, SAVED_METADATA_BYTES_MAX } from '../../core/limits.ts';
import type { SandboxResult } from '../sandbox/sandbox.ts';
import { SandboxFailure } from '../sandbox/sandbox-failure.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import type { IngestResult } from './ingest-result.ts';

const side = z.int().min(1).max(65_535);
const fraction = z.number().min(0).max(1);
const contentType = z.enum(['image/jpeg', 'image/png', 'image/webp', 'image/avif', 'image/gif']);
const masterType = z.enum([...contentType.options, 'image/svg+xml']);

const refusalSchema = z.strictObject({
  error_code: z.enum([
    'unsupported_media_type',
    'animated_not_supported',
    'image_too_large',
    'decode_failed',
  ] satisfies (keyof typeof processingErrors)[]),
  detail: z.string(),
});

const knownSchema = z.strictObject({
  content_type: masterType,
  width: side,
  height: side,
  has_alpha: z.boolean(),
  is_lossless: z.boolean(),
  focal_x: fraction,
  focal_y: fraction,
  dominant_color: z.string().regex(/^#[0-9a-f]{6}$/),
  thumb_hash: z.base64().max(88),
  location: z
    .strictObject({
      latitude: z.number().min(-90).max(90),
      longitude: z.number().min(-180).max(180),
    })
    .nullable(),
  taken_at: z.iso.datetime().nullable(),
  has_native: z.boolean(),
  mezzanines: z
    .array(
      z.strictObject({ long_edge: side, width: side, height: side, content_type: contentType }),
    )
    .max(4),
  metadata: z.array(z.enum(['exif', 'icc', 'xmp'])).max(3),
});

/**
 * Throws IngestRefusal for a refused image, SandboxFailure `garbage` for an answer that no honest
 * child gives.
 */
export function readIngestAnswer({ facts, parts }: SandboxResult): IngestResult {
  const refusal = refusalSchema.safeParse(facts);
  if (refusal.success) throw new IngestRefusal(refusal.data.error_code, refusal.data.detail);
  const parsed = knownSchema.safeParse(facts);
  if (!parsed.success) throw garbage(parsed.error.message);
  const { has_native, mezzanines, metadata, ...known } = parsed.data;
  const rest = [...parts];
  const next = (bytesMax: number) => {
    const part = rest.shift();
    if (part === undefined || part.length === 0 || part.length > bytesMax) throw garbage('a part');
    return part;
  };
  const result = {
    ...known,
    master: next(SANITIZED_BYTES_MAX),
    native: has_native ? next(SANITIZED_BYTES_MAX) : null,
    mezzanines: mezzanines.map((mezzanine) => ({ ...mezzanine, bytes: next(SANITIZED_BYTES_MAX) })),
    metadata: Object.fromEntries(metadata.map((name) => [name, next(SAVED_METADATA_BYTES_MAX)])),
  };
  if (rest.length > 0) throw garbage('parts that nobody named');
  return result;
}

function garbage(detail: string): SandboxFailure {
  return new SandboxFailure('garbage', detail);
}
