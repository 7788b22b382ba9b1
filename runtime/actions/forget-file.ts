/**
 * What follows when a file must not be seen any more: caches forget it, and the watermark presets that draw it are
 * removed, the project's default among them; where there were any, every image of the project is forgotten.
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

type Forgetting = { reason: string; actor: Actor };

/** The project's row is locked. Returns the ids of the presets that went. */
export async function forgetFile(
  tx: Transaction,
  file: PurgedFile,
  forgetting: Forgetting,
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

type Removal = Forgetting & { file: PurgedFile; presets: readonly WatermarkPresetRow[] };

/** With an entry of each in the audit log, and of the default. */
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
