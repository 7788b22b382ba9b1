/**
 * The conditions of an accepted Project resource: what it still waits for, or that it is as declared. Spec: Project.
 */
import { literalFault } from '../../runtime/platform/egress.ts';
import { type Condition, conditionsFor } from '../conditions.ts';
import type { ProjectRows } from './gather.ts';
import type { ProjectState } from './refuse.ts';
import type { ProjectSpec } from './schema.ts';

export function verdict({ spec, rows }: ProjectState): Condition[] {
  if (spec.state !== 'Suspended' && rows.project?.suspended_by === 'staff') {
    return conditionsFor('SuspendedByStaff', 'staff suspended the project: only staff can lift it');
  }
  const [awaited] = rows.domains_awaited;
  if (awaited !== undefined) {
    const message = `'${awaited.domain}' still belongs to the Project '${awaited.holder}', which is declared without it, and moves to this Project once that one has released it; all else is in effect`;
    return conditionsFor('CustomDomainAwaited', message);
  }
  const preset = spec.defaultWatermarkPresetRef?.name;
  if (preset && rows.default_watermark_preset_id === undefined) {
    const message = `the WatermarkPreset '${preset}' does not exist or is not ready; all else is in effect`;
    return conditionsFor('WatermarkPresetNotFound', message);
  }
  const missing = missingWarmPresets(spec, rows).map((name) => `'${name}'`);
  if (missing.length > 0) {
    const message = `the project has no resolution preset ${missing.join(', ')}, which warmPresets names; all else is in effect`;
    return conditionsFor('WarmPresetNotFound', message);
  }
  const url = spec.callback?.url;
  // Only literal addresses are checked: where a name leads depends on the dispatcher's network, and
  // shows at the first delivery.
  const fault = url && literalFault(url, rows.callback_egress ?? 'public');
  if (fault) {
    const message = `nothing is sent to spec.callback.url (${fault}); all else is in effect`;
    return conditionsFor('CallbackNotPublic', message);
  }
  if (spec.state === 'Suspended') return conditionsFor('Suspended', 'suspended, as declared');
  return conditionsFor('InSync', 'the project is as declared');
}

/** The schema checks them if presets are declared too; otherwise the presets come from the API. */
function missingWarmPresets(spec: ProjectSpec, { project }: ProjectRows): string[] {
  if (spec.resolutionPresets !== undefined) return [];
  const presets = project?.resolution_presets ?? {};
  return (spec.warmPresets ?? []).filter((name) => !Object.hasOwn(presets, name));
}
