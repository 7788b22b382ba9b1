/** A watermark preset's row as the API answers it. Spec: Watermark preset. */
import type { WatermarkPresetRecord } from '../../core/resources/watermark-preset.ts';
import type { WatermarkPresetRow } from '../../db/watermark-presets.ts';

export function presentWatermarkPreset(row: WatermarkPresetRow): WatermarkPresetRecord {
  const { name, file_slug, x_offset, y_offset, opacity } = row;
  return {
    id: row.watermark_preset_id,
    name,
    file_slug,
    x_offset,
    y_offset,
    opacity,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
