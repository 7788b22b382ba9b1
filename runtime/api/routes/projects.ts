/** Spec: Endpoints, Projects. */
import { newSigningKey } from '../../actions/new-signing-key.ts';
import { ServiceError } from '../../core/errors.ts';
import { isId, newId } from '../../core/ids.ts';
import {
  type CreateProject,
  createProjectBody,
  listProjectsQuery,
  type ProjectRecord,
} from '../../core/resources/project.ts';
import { findOrganization } from '../../db/organizations.ts';
import { insertProject, listProjects, type ProjectRow } from '../../db/projects.ts';
import { insertSigningKey } from '../../db/signing-keys.ts';
import { type DashPrincipal, onlyDash, onlyKey } from '../auth/principal.ts';
import type { ApiDeps } from '../deps.ts';
import { endpoint, projectEndpoint } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { presentApiKey } from '../present/api-key.ts';
import { presentProject } from '../present/project.ts';

export const listOwnProjects = endpoint({
  method: 'GET',
  path: '/v1/projects',
  auth: ['dash'],
  ok: 200,
  query: listProjectsQuery,
  handle: async ({ deps, principal, query }) => {
    const { organization_id } = onlyDash(principal).organization;
    return listPage(deps, {
      query,
      route: '/v1/projects',
      owner: organization_id,
      find: (page) => listProjects(deps.db, { ...page, organization_id }),
      present: (row) => present(deps, row),
    });
  },
});

export const createProject = endpoint({
  method: 'POST',
  path: '/v1/projects',
  auth: ['dash'],
  ok: 201,
  effect: 'once',
  errors: ['project_exists', 'staff_only_field'],
  body: createProjectBody,
  handle: async ({ deps, principal, body }) => {
    const organization_id = await organizationFor(deps, onlyDash(principal), body);
    const project_id = newId('prj', deps.clock.now().getTime());
    const project = { ...body, project_id, organization_id, name: body.name ?? body.project_slug };
    return present(deps, await insertWithKey(deps, project));
  },
});

export const getProject = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  handle: async ({ deps, project }) => present(deps, project),
});

export const introspectKey = endpoint({
  method: 'GET',
  path: '/v1/key',
  auth: ['key'],
  ok: 200,
  handle: async ({ principal }) => {
    const { key } = onlyKey(principal);
    const { project_slug, project_id, organization_id } = key;
    const { created_at, updated_at, ...known } = presentApiKey(key);
    return { ...known, project_slug, project_id, organization_id };
  },
});

/** The caller's own organization; staff may name any that exists. */
async function organizationFor(
  { db }: ApiDeps,
  { organization, is_staff }: DashPrincipal,
  { organization_id }: CreateProject,
): Promise<string> {
  if (organization_id === undefined) return organization.organization_id;
  if (!is_staff)
    throw new ServiceError('staff_only_field', { details: { fields: ['organization_id'] } });
  const named = isId('org', organization_id) && (await findOrganization(db, organization_id));
  if (named) return organization_id;
  const issues = [
    { path: 'organization_id', message: 'expected the id of an organization that exists' },
  ];
  throw new ServiceError('invalid_request', { details: { issues } });
}

/** Project and first signing key come into being together, so that there is none without a key. */
async function insertWithKey(
  deps: ApiDeps,
  project: Parameters<typeof insertProject>[1],
): Promise<ProjectRow> {
  return deps.db.transaction(async (tx) => {
    const inserted = await insertProject(tx, project);
    if (inserted === undefined) throw new ServiceError('project_exists');
    const { project_id } = inserted;
    const key = await insertSigningKey(tx, { ...newSigningKey(deps), project_id });
    return { ...inserted, active_signing_kid: key?.kid ?? null };
  });
}

function present({ settings, plans }: ApiDeps, row: ProjectRow): ProjectRecord {
  return presentProject(row, { deliveryRootDomain: settings.deliveryRootDomain, plans });
}
