/**
 * Creates, replaces and deletes a project's watermark presets, with the purge and the audit entry in the same
 * transaction. Even a new preset purges: an edge may have cached the fallback under its id. Spec: Watermark presets.
 */
import { ServiceError } from '../core/errors.ts';
import { WATERMARK_PRESETS_MAX } from '../core/limits.ts';
import type { PutWatermarkPreset } from '../core/resources/watermark-preset.ts';
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Database, Transaction } from '../db/client.ts';
import { findFile } from '../db/files.ts';
import { lockProject } from '../db/projects.ts';
import {
  countWatermarkPresets,
  deleteWatermarkPreset as deletePresetRow,
  findWatermarkPreset,
  upsertWatermarkPreset,
  type WatermarkPresetRow,
} from '../db/watermark-presets.ts';
import { purgeProject } from './purge.ts';
import { translateViolations } from './translate-violations.ts';

type PresetOfProject = { project_id: string; watermark_preset_id: string };

/** `guard` throws if the current preset is not the one that the caller means to replace. */
export type PresetChange = PresetOfProject & {
  input: PutWatermarkPreset;
  actor: Actor;
  guard?: (before: WatermarkPresetRow | undefined) => void;
};
export type PutPreset = { row: WatermarkPresetRow; outcome: 'created' | 'replaced' };

export async function putWatermarkPreset(db: Database, change: PresetChange): Promise<PutPreset> {
  return translateViolations(
    db.transaction((tx) => put(tx, change)),
    REFUSALS,
  );
}

async function put(tx: Transaction, change: PresetChange): Promise<PutPreset> {
  const { project_id, watermark_preset_id, actor, guard } = change;
  const { file_slug, ...drawn } = change.input;
  await lockProject(tx, project_id);
  const before = await findWatermarkPreset(tx, change);
  if (before === undefined) await requireRoom(tx, project_id);
  guard?.(before);
  const file = await findFile(tx, { project_id, file_slug });
  if (file?.status !== 'ready') throw new ServiceError('watermark_file_not_ready');
  const { file_id } = file;
  const written = await upsertWatermarkPreset(tx, {
    project_id,
    watermark_preset_id,
    file_id,
    ...drawn,
  });
  // The id belongs to another project, which is not revealed.
  if (written === undefined) throw new ServiceError('not_found');
  const action = before ? 'watermark_preset.replace' : 'watermark_preset.create';
  await insertAuditEntry(tx, {
    project_id,
    ...actor,
    action,
    target: watermark_preset_id,
    before: before && auditedPreset(before),
    after: auditedPreset(written.row),
  });
  await purgeProject(tx, { project_id, reason: 'watermark_preset_changed' });
  return written;
}

async function requireRoom(tx: Transaction, projectId: string): Promise<void> {
  if ((await countWatermarkPresets(tx, projectId)) >= WATERMARK_PRESETS_MAX)
    throw new ServiceError('watermark_preset_quota_exceeded');
}

/** Returns false if there is no such preset. */
export async function deleteWatermarkPreset(
  db: Database,
  { actor, ...preset }: PresetOfProject & { actor: Actor },
): Promise<boolean> {
  return translateViolations(
    db.transaction(async (tx) => {
      const { project_id, watermark_preset_id: target } = preset;
      await lockProject(tx, project_id);
      const row = await findWatermarkPreset(tx, preset);
      if (row === undefined) return false;
      await deletePresetRow(tx, preset);
      const entry = { action: 'watermark_preset.delete', target, before: auditedPreset(row) };
      await insertAuditEntry(tx, { project_id, ...actor, ...entry });
      await purgeProject(tx, { project_id, reason: 'watermark_preset_deleted' });
      return true;
    }),
    REFUSALS,
  );
}

/** The preset's fields as the audit log keeps them. */
export function auditedPreset({
  name,
  file_id,
  file_slug,
  x_offset,
  y_offset,
  opacity,
}: WatermarkPresetRow) {
  return { name, file_id, file_slug, x_offset, y_offset, opacity };
}

const REFUSALS = {
  watermark_presets_name_taken: 'watermark_preset_name_taken',
  projects_default_watermark_in_use: 'default_watermark_in_use',
} as const;
