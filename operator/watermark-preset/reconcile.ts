/** One pass over a WatermarkPreset resource. */
import { reconciler } from '../reconcile.ts';
import { applyWatermarkPreset } from './apply.ts';
import { decideWatermarkPreset } from './decide.ts';
import { watermarkPresetDifferences } from './differences.ts';
import { gatherWatermarkPreset } from './gather.ts';
import { watermarkPresetSpec } from './schema.ts';

export const reconcileWatermarkPreset = reconciler({
  spec: watermarkPresetSpec,
  gather: gatherWatermarkPreset,
  decide: decideWatermarkPreset,
  differences: watermarkPresetDifferences,
  apply: applyWatermarkPreset,
});
