/** What has to be read to judge a WatermarkPreset resource. */
import type { Queryable } from '../../runtime/db/client.ts';
import {
  type DeclaredWatermarkPresetRow,
  findDeclaredWatermarkPreset,
  isNameTaken,
} from '../../runtime/db/declared-rows.ts';
import { findFile } from '../../runtime/db/files.ts';
import type { Subject } from '../declared.ts';
import type { Scope } from '../reconcile.ts';
import { findReferredProject } from '../referred-project.ts';
import { fileSlugOf, type WatermarkPresetSpec } from './schema.ts';

export type WatermarkPresetRows = {
  project: { project_id: string } | undefined;
  /** The row that the resource owns. */
  preset: DeclaredWatermarkPresetRow | undefined;
  /** Another row of the project has the name. */
  hasNamesake: boolean;
  /** The live file of the declared slug. */
  file: { file_id: string; status: 'ready' | 'blocked' | 'deleted' } | undefined;
};

export async function gatherWatermarkPreset(
  db: Queryable,
  { identity, spec }: Subject<WatermarkPresetSpec>,
  scope: Scope,
): Promise<WatermarkPresetRows> {
  const owner_uid = identity.uid;
  const preset = await findDeclaredWatermarkPreset(db, { owner_uid });
  const alone = { project: preset, preset, hasNamesake: false, file: undefined };
  if (spec === undefined) return alone;
  const project = await findReferredProject(db, spec, scope);
  if (project === undefined) return { ...alone, project };
  const name = spec.displayName ?? identity.name;
  const { project_id } = project;
  return {
    project,
    preset,
    hasNamesake: await isNameTaken(db, 'watermark_presets', { project_id, name, owner_uid }),
    file: await findFile(db, { project_id, file_slug: fileSlugOf(identity, spec) }),
  };
}
