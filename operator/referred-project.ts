/** The project that a resource refers to by the name of its Project, in the same namespace. */
import type { Queryable } from '../runtime/db/client.ts';
import { findProjectByOwner, type ProjectRow } from '../runtime/db/projects.ts';
import type { Scope } from './reconcile.ts';

export type ReferredProject = Pick<ProjectRow, 'project_id' | 'resolution_presets'>;

export async function findReferredProject(
  db: Queryable,
  { projectRef }: { projectRef: { name: string } },
  scope: Scope,
): Promise<ReferredProject | undefined> {
  const uid = scope.findUid('Project', projectRef.name);
  const project = uid === undefined ? undefined : await findProjectByOwner(db, uid);
  if (project === undefined) return undefined;
  const { project_id, resolution_presets } = project;
  return { project_id, resolution_presets };
}
