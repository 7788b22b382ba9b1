/**
 * Finds the project of a path if the caller may address it. Every miss is the same 404, whether the project belongs to
 * somebody else or never existed. Spec: Authentication, Rules 2.
 */
import { ServiceError } from '../core/errors.ts';
import { parseProjectSlug } from '../core/slug.ts';
import { findProjectBySlug, type ProjectRow } from '../db/projects.ts';
import type { DashPrincipal } from './auth/principal.ts';
import type { EndpointFacts, RawCall } from './endpoint.ts';

export async function findOwnProject(
  { deps, principal, params }: Pick<RawCall, 'deps' | 'principal' | 'params'>,
  projects: EndpointFacts['projects'],
): Promise<ProjectRow> {
  const slug = parseProjectSlug(params['slug'] ?? '');
  const project = slug && (await findAddressed({ deps, principal, projects }, slug));
  if (project) return project;
  throw new ServiceError('not_found');
}

type Caller = Pick<RawCall, 'deps' | 'principal'> & Pick<EndpointFacts, 'projects'>;

async function findAddressed(
  { deps, principal, projects }: Caller,
  slug: string,
): Promise<ProjectRow | undefined> {
  switch (principal.kind) {
    case 'key': {
      // Read together with the key, moments ago.
      const { project } = principal.key;
      return project.project_slug === slug ? project : undefined;
    }
    case 'dash': {
      const project = await findProjectBySlug(deps.db, slug);
      return project && mayAddress(principal, project, projects) ? project : undefined;
    }
    case 'library_session':
    case 'none':
      return undefined;
  }
}

function mayAddress(
  { organization, is_staff }: DashPrincipal,
  { organization_id }: ProjectRow,
  projects: EndpointFacts['projects'],
): boolean {
  const isOwn = organization.organization_id === organization_id;
  return isOwn || (is_staff && projects === 'own, staff any');
}
