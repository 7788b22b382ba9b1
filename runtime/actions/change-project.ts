/**
 * Writes a project's settings, with their consequences, in the caller's transaction: cached images are purged if a
 * setting that they depend on changed. Spec: Project.
 */
import { isDeepStrictEqual } from 'node:util';
import { purgingFields } from '../core/resources/project.ts';
import type { Transaction } from '../db/client.ts';
import { type ProjectChanges, type ProjectRow, updateProject } from '../db/projects.ts';
import { purgeProject } from './purge.ts';

/** `project` is locked by the transaction; unchanged settings are not written again. */
export async function changeProject(
  tx: Transaction,
  project: ProjectRow,
  wanted: ProjectChanges,
): Promise<ProjectRow> {
  const changes = realChanges(project, wanted);
  const fields = Object.keys(changes);
  if (fields.length === 0) return project;
  const changed = await updateProject(tx, { project_id: project.project_id, changes });
  if (changed === undefined) throw new Error(`${project.project_id} is locked and gone`);
  const purging = purgingFields.filter((field) => fields.includes(field));
  if (purging.length === 0) return changed;
  await purgeProject(tx, { project_id: project.project_id, reason: purging.join(', ') });
  return { ...changed, generation: changed.generation + 1 };
}

function realChanges(project: ProjectRow, wanted: ProjectChanges): ProjectChanges {
  const entries = Object.entries(wanted) as [keyof ProjectChanges, unknown][];
  return Object.fromEntries(
    entries.filter(
      ([field, value]) => value !== undefined && !isDeepStrictEqual(project[field], value),
    ),
  );
}
