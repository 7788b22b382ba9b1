/** Writes the decided changes of a watermark preset in one transaction. */
import { purgeProject } from '../../runtime/actions/purge.ts';
import { newId } from '../../runtime/core/ids.ts';
import type { Transaction } from '../../runtime/db/client.ts';
import { exchangeNames } from '../../runtime/db/declared-names.ts';
import type { ProjectRow } from '../../runtime/db/projects.ts';
import {
  deleteWatermarkPreset,
  upsertWatermarkPreset,
} from '../../runtime/db/watermark-presets.ts';
import { ownerColumns } from '../claim.ts';
import { type ApplyContext, presentProject } from '../reconcile.ts';
import type { WatermarkPresetChange } from './decide.ts';
import type { WatermarkPresetSpec } from './schema.ts';

export async function applyWatermarkPreset(
  tx: Transaction,
  changes: readonly WatermarkPresetChange[],
  context: ApplyContext<WatermarkPresetSpec>,
): Promise<ProjectRow> {
  for (const change of changes) await write(tx, change, context);
  return presentProject(context.project);
}

async function write(
  tx: Transaction,
  change: WatermarkPresetChange,
  { subject, clock }: ApplyContext<WatermarkPresetSpec>,
): Promise<void> {
  if (change.change === 'make-way') {
    await exchangeNames(tx, 'watermark_presets', change);
    return;
  }
  if (change.change === 'delete') {
    await deleteWatermarkPreset(tx, change.preset);
    await purgeProject(tx, { ...change.preset, reason: 'watermark_preset_deleted' });
    return;
  }
  const owner = ownerColumns(subject.identity);
  const key =
    change.change === 'update'
      ? change.preset
      : {
          project_id: change.project_id,
          watermark_preset_id: newId('wm', clock.now().getTime()),
        };
  const { watermark_preset_id, project_id } = key;
  await upsertWatermarkPreset(tx, { watermark_preset_id, project_id, ...change.fields, ...owner });
  // A new preset purges too: an edge may have cached the fallback under its id.
  if (change.change === 'update' && !change.isPurging) return;
  await purgeProject(tx, { project_id, reason: 'watermark_preset_changed' });
}
