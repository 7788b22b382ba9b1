/**
 * The project of a path, if the caller may address it. Every miss is the same 404, whether the project
 * belongs to somebody else or was never there. Spec: Authentication, Rules 2.
 */
import { ServiceError } from '../core/errors.ts';
import { parseProjectSlug } from '../core/slug.ts';
import { findProjectBySlug, type ProjectRow } from '../db/projects.ts';
import type { Principal } from './auth/principal.ts';
import type { EndpointFacts, RawCall } from './endpoint.ts';

export async function findOwnProject(
  { deps, principal, params }: Pick<RawCall, 'deps' | 'principal' | 'params'>,
  projects: EndpointFacts['projects'],
): Promise<ProjectRow> {
  const slug = parseProjectSlug(params['slug'] ?? '');
  const project = slug && (await findProjectBySlug(deps.db, slug));
  if (project && mayAddress(principal, project, projects)) return project;
  throw new ServiceError('not_found');
}

function mayAddress(
  principal: Principal,
  project: ProjectRow,
  projects: EndpointFacts['projects'],
): boolean {
  switch (principal.kind) {
    case 'key':
      return principal.key.project_id === project.project_id;
    case 'dash':
      return (
        principal.organization.organization_id === project.organization_id ||
        (principal.is_staff && projects === 'own, staff any')
      );
    case 'none':
      return false;
  }
}
