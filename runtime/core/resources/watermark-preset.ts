/** An image to draw onto derived images. Spec: Watermark preset; Watermark presets. */
import { z } from 'zod';
import {
  WATERMARK_OFFSET_PX_DEFAULT,
  WATERMARK_OFFSET_PX_MAX,
  WATERMARK_OPACITY_DEFAULT,
  WATERMARK_OPACITY_MAX,
  WATERMARK_OPACITY_MIN,
} from '../limits.ts';
import { expected, fileSlug, nameText, requestBody, times } from './wire.ts';

/** Offsets are output pixels: from left and top, negative ones from right and bottom. */
export const watermarkPresetRecord = z.object({
  id: z.string(),
  name: z.string(),
  file_slug: z.string(),
  x_offset: z.int(),
  y_offset: z.int(),
  opacity: z.int(),
  ...times,
});

/** A watermark preset on the wire. */
export type WatermarkPresetRecord = z.infer<typeof watermarkPresetRecord>;

const offset = rounded(-WATERMARK_OFFSET_PX_MAX, WATERMARK_OFFSET_PX_MAX);

/** Create or replace; numbers are rounded half up to integers. */
export const putWatermarkPresetBody = requestBody({
  name: nameText(),
  file_slug: fileSlug,
  x_offset: offset.default(WATERMARK_OFFSET_PX_DEFAULT),
  y_offset: offset.default(WATERMARK_OFFSET_PX_DEFAULT),
  opacity: rounded(WATERMARK_OPACITY_MIN, WATERMARK_OPACITY_MAX).default(WATERMARK_OPACITY_DEFAULT),
});

/** The requested preset, with defaults. */
export type PutWatermarkPreset = z.infer<typeof putWatermarkPresetBody>;

function rounded(min: number, max: number) {
  const error = expected(`a number from ${min} to ${max}`);
  return z
    .number({ error })
    .min(min, { error })
    .max(max, { error })
    .transform((value) => Math.floor(value + 0.5));
}
