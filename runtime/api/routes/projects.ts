/** Spec: Endpoints, Projects. */
import { createProject as insertProject } from '../../actions/create-project.ts';
import { suspendProject } from '../../actions/suspend-project.ts';
import { isId, newId } from '../../core/ids.ts';
import { wrongInput } from '../../core/input-issue.ts';
import { planProjects } from '../../core/plans.ts';
import {
  type CreateProject,
  createProjectBody,
  listProjectsQuery,
  staffFieldsOfCreate,
} from '../../core/resources/project.ts';
import { findOrganization } from '../../db/organizations.ts';
import { listProjects } from '../../db/projects.ts';
import { auditActor } from '../audit-actor.ts';
import { forgetSessions } from '../auth/library-session.ts';
import {
  type DashPrincipal,
  requireDashPrincipal,
  requireKeyPrincipal,
} from '../auth/principal.ts';
import type { ApiDeps } from '../deps.ts';
import { endpoint, projectEndpoint } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { presentApiKey } from '../present/api-key.ts';
import { presentProject, projectVolatileFields } from '../present/project.ts';

export const listOwnProjects = endpoint({
  method: 'GET',
  path: '/v1/projects',
  auth: ['dash'],
  ok: 200,
  query: listProjectsQuery,
  handle: async ({ deps, principal, query }) => {
    const { organization_id } = requireDashPrincipal(principal).organization;
    return listPage(deps, {
      query,
      route: '/v1/projects',
      owner: organization_id,
      find: (page) => listProjects(deps.db, { ...page, organization_id }),
      present: (row) => presentProject(row, deps),
    });
  },
});

export const createProject = endpoint({
  method: 'POST',
  path: '/v1/projects',
  auth: ['dash'],
  ok: 201,
  effect: 'once',
  moving: projectVolatileFields,
  errors: ['project_exists', 'project_quota_exceeded', 'staff_only_field'],
  body: createProjectBody,
  staffFields: staffFieldsOfCreate,
  handle: async ({ deps, principal, body, request_id }) => {
    const caller = requireDashPrincipal(principal);
    const organization_id = await organizationFor(deps, caller, body);
    const project_id = newId('prj', deps.clock.now().getTime());
    const project = { ...body, project_id, organization_id, name: body.name ?? body.project_slug };
    const actor = auditActor({ principal, request_id });
    return presentProject(
      await insertProject(deps, { project, actor, projects_max: projectsMax(deps, caller) }),
      deps,
    );
  },
});

export const getProject = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  moving: projectVolatileFields,
  handle: async ({ deps, project }) => presentProject(project, deps),
});

export const deleteProject = projectEndpoint({
  method: 'DELETE',
  path: '/v1/projects/{slug}',
  auth: ['dash'],
  ok: 204,
  handle: async ({ deps, principal, project: { project_id }, request_id }) => {
    const actor = auditActor({ principal, request_id });
    await deps.db.transaction((tx) => suspendProject(tx, { project_id, actor }));
  },
  afterwards: forgetSessions,
});

export const introspectKey = endpoint({
  method: 'GET',
  path: '/v1/key',
  auth: ['key'],
  ok: 200,
  handle: async ({ principal }) => {
    const { key } = requireKeyPrincipal(principal);
    const { project_slug, project_id, organization_id } = key.project;
    const { created_at, updated_at, ...known } = presentApiKey(key);
    return { ...known, project_slug, project_id, organization_id };
  },
});

/** Staff may go beyond what a plan allows. */
function projectsMax({ plans }: ApiDeps, { is_staff, organization }: DashPrincipal): number {
  return is_staff ? Number.POSITIVE_INFINITY : planProjects(plans, organization.plan);
}

/** The caller's own organization. Only staff may name one, and it must exist. */
async function organizationFor(
  { db }: ApiDeps,
  { organization }: DashPrincipal,
  { organization_id }: CreateProject,
): Promise<string> {
  if (organization_id === undefined) return organization.organization_id;
  const named = isId('org', organization_id) && (await findOrganization(db, organization_id));
  if (named) return organization_id;
  const message = 'expected the id of an organization that exists';
  throw wrongInput({ path: 'organization_id', message });
}
