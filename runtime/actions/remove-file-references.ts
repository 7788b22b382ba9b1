/**
 * Makes a file invisible: purges it from caches and removes the watermark presets that use it, including the project's
 * default. If there were any, every image of the project is purged.
 * Spec: States and transitions, File; Watermark preset.
 */
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import { findProject } from '../db/projects.ts';
import { onlyRow } from '../db/rows.ts';
import {
  deleteWatermarkPresetsOfFile,
  listWatermarkPresetsOfFile,
  type WatermarkPresetRow,
} from '../db/watermark-presets.ts';
import { auditProject } from './audit-project.ts';
import { auditedPreset } from './change-watermark-preset.ts';
import { type PurgedFile, purgeFile, purgeProject } from './purge.ts';

type RemovalReason = { reason: string; actor: Actor };

/** The caller holds the lock on the project's row. Returns the ids of the removed presets. */
export async function removeFileReferences(
  tx: Transaction,
  file: PurgedFile,
  forgetting: RemovalReason,
): Promise<string[]> {
  const { project_id, file_id } = file;
  const { reason } = forgetting;
  const presets = await listWatermarkPresetsOfFile(tx, file_id);
  if (presets.length === 0) {
    await purgeFile(tx, file, reason);
    return [];
  }
  await removePresets(tx, { ...forgetting, file, presets });
  await purgeProject(tx, { project_id, reason });
  return presets.map(({ watermark_preset_id }) => watermark_preset_id);
}

type Removal = RemovalReason & { file: PurgedFile; presets: readonly WatermarkPresetRow[] };

/** Audits each removed preset, and the change of the project's default. */
async function removePresets(
  tx: Transaction,
  { file, presets, reason, actor }: Removal,
): Promise<void> {
  const { project_id, file_id } = file;
  const project = onlyRow(await findProject(tx, project_id));
  await deleteWatermarkPresetsOfFile(tx, file_id);
  for (const preset of presets) {
    await insertAuditEntry(tx, {
      project_id,
      ...actor,
      action: 'watermark_preset.delete',
      target: preset.watermark_preset_id,
      before: auditedPreset(preset),
      after: { because: reason },
    });
  }
  const after = onlyRow(await findProject(tx, project_id));
  await auditProject(tx, { action: 'project.update', actor, before: project, after });
}
