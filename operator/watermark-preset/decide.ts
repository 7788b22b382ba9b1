/**
 * What must change so that a watermark preset is as its resource declares. Pure. A preset exists only while its file is
 * ready: when moderation blocks the file, the preset is removed, which is reported, not undone. Spec: Watermark preset.
 */
import { WATERMARK_PRESETS_MAX } from '../../runtime/core/limits.ts';
import { changeNothing, conditionsFor } from '../conditions.ts';
import type { Identity, Subject } from '../declared.ts';
import { refuseDefaults } from '../default-names.ts';
import {
  declaredName,
  printHolder,
  printLimit,
  type RenameHolders,
  renameHolders,
} from '../names.ts';
import type { Decision } from '../reconcile.ts';
import type { WatermarkPresetRows } from './gather.ts';
import { fileSlugOf, type WatermarkPresetSpec } from './schema.ts';

export type WatermarkFields = {
  name: string;
  file_id: string;
  x_offset: number;
  y_offset: number;
  opacity: number;
};

export type WatermarkPresetChange =
  | RenameHolders
  | { change: 'create'; project_id: string; fields: WatermarkFields }
  | { change: 'update'; preset: PresetKey; fields: WatermarkFields; isPurging: boolean }
  | { change: 'delete'; preset: PresetKey };

export type PresetKey = { watermark_preset_id: string; project_id: string };

export function decideWatermarkPreset(
  subject: Subject<WatermarkPresetSpec>,
  rows: WatermarkPresetRows,
): Decision<WatermarkPresetChange> {
  if (subject.action === 'delete') return decideDeletion(rows);
  const { identity, spec } = subject;
  const { project, preset, naming } = rows;
  const tooLong = refuseDefaults(identity, spec, ['displayName', 'fileSlug']);
  if (tooLong !== undefined) return changeNothing('SpecInvalid', tooLong);
  if (project === undefined) {
    return changeNothing('ProjectNotFound', `there is no Project '${spec.projectRef.name}' yet`);
  }
  if (preset !== undefined && preset.project_id !== project.project_id) {
    const message =
      'it was created in another project: set projectRef back, or declare a new WatermarkPreset instead';
    return changeNothing('ProjectImmutable', message);
  }
  const name = declaredName(identity, spec);
  if (naming.holder !== undefined) {
    const whose = printHolder(naming.holder, 'WatermarkPreset');
    const message = `the project already has a watermark preset '${name}'${whose}: set displayName to another name`;
    return changeNothing('NameConflict', message);
  }
  if (preset === undefined && rows.is_full) {
    return changeNothing('LimitReached', printLimit('watermark presets', WATERMARK_PRESETS_MAX));
  }
  const first = renameHolders(naming.renamings, preset?.watermark_preset_id);
  return judgeFile({ identity, spec, rows, name, first, project_id: project.project_id });
}

type DesiredPreset = {
  identity: Identity;
  spec: WatermarkPresetSpec;
  rows: WatermarkPresetRows;
  name: string;
  first: readonly RenameHolders[];
  project_id: string;
};

function judgeFile({ identity, spec, rows, name, first, project_id }: DesiredPreset) {
  const slug = fileSlugOf(identity, spec);
  const { file, preset } = rows;
  if (file === undefined) {
    return changeNothing('FileNotFound', `waiting until the file '${slug}' is uploaded`);
  }
  if (file.status === 'blocked') {
    return changeNothing('FileBlocked', `the file '${slug}' is blocked: name another file`);
  }
  const fields: WatermarkFields = {
    name,
    file_id: file.file_id,
    x_offset: spec.xOffset,
    y_offset: spec.yOffset,
    opacity: spec.opacityPercent,
  };
  const conditions = conditionsFor('InSync', 'the watermark preset is as declared');
  const change =
    preset === undefined ? create(project_id, fields) : update(preset, fields, identity.uid);
  return { changes: change === undefined ? [] : [...first, change], conditions };
}

function create(project_id: string, fields: WatermarkFields): WatermarkPresetChange {
  return { change: 'create', project_id, fields };
}

function update(
  preset: WatermarkFields & PresetKey & { owner_uid: string | null },
  fields: WatermarkFields,
  uid: string,
): WatermarkPresetChange | undefined {
  const isDrawnTheSame =
    preset.file_id === fields.file_id &&
    preset.x_offset === fields.x_offset &&
    preset.y_offset === fields.y_offset &&
    preset.opacity === fields.opacity;
  const isMine = preset.owner_uid === uid;
  if (isMine && isDrawnTheSame && preset.name === fields.name) return undefined;
  return { change: 'update', preset, fields, isPurging: !isDrawnTheSame };
}

function decideDeletion({ preset }: WatermarkPresetRows): Decision<WatermarkPresetChange> {
  if (preset === undefined) return changeNothing('Deleted', 'it owned no preset');
  if (preset.is_default && preset.is_project_owned) {
    const message =
      'it is the default watermark of its project: name another one in defaultWatermarkPresetRef, or an empty name for none';
    return changeNothing('InUseAsDefault', message);
  }
  if (preset.is_default)
    return changeNothing(
      'Retained',
      'it stays, as the default of a project that no Project of its namespace declares',
    );
  return {
    changes: [{ change: 'delete', preset }],
    conditions: conditionsFor('Deleted', 'the watermark preset is deleted'),
  };
}
