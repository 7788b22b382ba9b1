/** The project that a resource refers to by the name of its Project, in the same namespace. */
import type { Queryable } from '../runtime/db/client.ts';
import { findProjectByOwner } from '../runtime/db/projects.ts';
import type { Scope } from './reconcile.ts';

export async function findReferredProject(
  db: Queryable,
  { projectRef }: { projectRef: { name: string } },
  scope: Scope,
): Promise<{ project_id: string } | undefined> {
  const uid = scope.findUid('Project', projectRef.name);
  const project = uid === undefined ? undefined : await findProjectByOwner(db, uid);
  return project && { project_id: project.project_id };
}
