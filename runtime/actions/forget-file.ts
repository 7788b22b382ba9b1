/**
 * What follows when a file must not be seen any more: caches forget it, and the watermark presets that draw it are
 * removed, the project's default among them; where there were any, every image of the project is forgotten.
 * Spec: States and transitions, File; Watermark preset.
 */
import { type Actor, insertAuditEntry } from '../db/audit-log.ts';
import type { Transaction } from '../db/client.ts';
import { deleteWatermarkPresetsOfFile } from '../db/watermark-presets.ts';
import { type PurgedFile, purgeFile, purgeProject } from './purge.ts';

/** The project's row is locked. Returns the ids of the presets that went. */
export async function forgetFile(
  tx: Transaction,
  file: PurgedFile,
  { reason, actor }: { reason: string; actor: Actor },
): Promise<string[]> {
  const { project_id, file_id, file_slug } = file;
  const presetIds = await deleteWatermarkPresetsOfFile(tx, file_id);
  if (presetIds.length === 0) {
    await purgeFile(tx, file, reason);
    return presetIds;
  }
  await purgeProject(tx, { project_id, reason });
  for (const target of presetIds) {
    const before = { file_id, file_slug };
    const entry = { action: 'watermark_preset.delete', target, before, after: { because: reason } };
    await insertAuditEntry(tx, { project_id, ...actor, ...entry });
  }
  return presetIds;
}
