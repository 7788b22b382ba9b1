/** Reads what is needed to judge a WatermarkPreset resource. */
import { WATERMARK_PRESETS_MAX } from '../../runtime/core/limits.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredWatermarkPresetRow,
  findDeclaredWatermarkPreset,
  findDefaultWatermarkPreset,
  findNamesakeWatermarkPreset,
} from '../../runtime/db/declared-rows.ts';
import { findFile } from '../../runtime/db/files.ts';
import { countWatermarkPresets } from '../../runtime/db/watermark-presets.ts';
import type { Subject } from '../declared.ts';
import { type DesiredName, isOwnerDeleted, type NameResolution, resolveName } from '../names.ts';
import { projectSpec } from '../project/schema.ts';
import type { Scope } from '../reconcile.ts';
import { findReferredProject } from '../referred-project.ts';
import { fileSlugOf, type WatermarkPresetSpec, watermarkPresetSpec } from './schema.ts';

export type WatermarkPresetRows = {
  project: { project_id: string } | undefined;
  /**
   * The row that the resource owns; otherwise the one that its predecessor of the same name left as
   * its project's default.
   */
  preset: DeclaredWatermarkPresetRow | undefined;
  /** The way to the declared name. */
  naming: NameResolution;
  /** The project has no room for another preset. */
  is_full: boolean;
  /**
   * The live file of the declared slug; while that is not the declared image, the preset's current
   * file.
   */
  file: { file_id: string; status: 'ready' | 'blocked' | 'deleted' } | undefined;
};

export async function gatherWatermarkPreset(
  db: Queryable,
  { identity, spec }: Subject<WatermarkPresetSpec>,
  scope: Scope,
): Promise<WatermarkPresetRows> {
  const own = await findDeclaredWatermarkPreset(db, { owner_uid: identity.uid });
  const naming = { renamings: [] };
  const alone = { project: own, preset: own, naming, is_full: false, file: undefined };
  if (spec === undefined) return alone;
  const project = await findReferredProject(db, spec, scope);
  if (project === undefined) return { ...alone, project };
  const { project_id } = project;
  const { namespace: owner_namespace, name: owner_name } = identity;
  const namesake = { project_id, owner_namespace, owner_name };
  const preset = own ?? (await findNamesakeWatermarkPreset(db, namesake));
  const owner = { ...identity, uid: preset?.owner_uid ?? identity.uid };
  const desired = { identity: owner, spec, project_id };
  const kind = { table: 'watermark_presets', schema: watermarkPresetSpec } as const;
  return {
    project,
    preset,
    naming: await resolveName(db, { ...kind, desired }, scope),
    is_full: preset === undefined && (await isFull(db, desired, scope)),
    file: scope.is_image_awaited
      ? preset && { file_id: preset.file_id, status: 'ready' }
      : ((await findFile(db, { project_id, file_slug: fileSlugOf(identity, spec) })) ??
        coming(scope)),
  };
}

async function isFull(db: Queryable, desired: DesiredName, scope: Scope): Promise<boolean> {
  const free = WATERMARK_PRESETS_MAX - (await countWatermarkPresets(db, desired.project_id));
  return free < 0 || (free === 0 && !(await isSuccessor(db, desired, scope)));
}

/**
 * Whether it replaces a default that is being deleted, and that must stay until this one exists:
 * meanwhile there is one preset too many.
 */
async function isSuccessor(
  db: Queryable,
  { identity: { kind, name }, spec: { projectRef }, project_id }: DesiredName,
  scope: Scope,
): Promise<boolean> {
  const declared = projectSpec.safeParse(scope.findDeclared('Project', projectRef.name)?.spec);
  if (declared.data?.defaultWatermarkPresetRef?.name !== name) return false;
  const last = await findDefaultWatermarkPreset(db, project_id);
  return last !== undefined && isOwnerDeleted(db, { ...last, kind }, scope);
}

function coming({ coming_file_id }: Scope): WatermarkPresetRows['file'] {
  return coming_file_id === undefined ? undefined : { file_id: coming_file_id, status: 'ready' };
}
