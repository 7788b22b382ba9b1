/** The state of a project after somebody sets it. Spec: Project (status). */
import { ServiceError } from '../core/errors.ts';
import type { ProjectStatus } from '../core/states.ts';
import type { ProjectChanges, ProjectRow } from '../db/projects.ts';

type StatusRequest = {
  by: 'owner' | 'staff';
  project: Pick<ProjectRow, 'status' | 'suspended_by'>;
  status: ProjectStatus | undefined;
};

/** Staff take over the owner's suspension. Only staff end their own: project_suspended_by_staff. */
export function statusChange({ by, project, status }: StatusRequest): ProjectChanges {
  if (status === undefined) return {};
  if (status === 'suspended') {
    const isSo = project.status === 'suspended' && by === 'owner';
    return { ...(isSo ? {} : { status, suspended_by: by }), suspended_by_deletion: false };
  }
  if (project.suspended_by === 'staff' && by === 'owner')
    throw new ServiceError('project_suspended_by_staff');
  return { status, suspended_by: null, suspended_by_deletion: false };
}
