/** Spec: Endpoints, Staff (projects, their files and uploads). */
import { changeProjectByStaff } from '../../../actions/change-project-by-staff.ts';
import { refuseWrongInput } from '../../../core/input-issue.ts';
import { listStaffFilesQuery } from '../../../core/resources/file-query.ts';
import { listStaffProjectsQuery, patchStaffProjectBody } from '../../../core/resources/project.ts';
import { listUploadsQuery } from '../../../core/resources/upload.ts';
import { insertAuditEntry } from '../../../db/audit-log.ts';
import { listFiles } from '../../../db/file-lists.ts';
import { listProjects, lockProject, type ProjectRow } from '../../../db/projects.ts';
import { listUploads } from '../../../db/uploads.ts';
import { auditActor } from '../../audit-actor.ts';
import { forgetSessions } from '../../auth/library-session.ts';
import type { ApiDeps } from '../../deps.ts';
import { endpoint, projectEndpoint } from '../../endpoint.ts';
import { entityTag, requireMatch } from '../../entity-tag.ts';
import { EVERYBODY, listPage } from '../../list-page.ts';
import { presentFile } from '../../present/file.ts';
import { presentStaffProject, projectVolatileFields } from '../../present/project.ts';
import { presentUpload } from '../../present/upload.ts';

export const listStaffProjects = endpoint({
  method: 'GET',
  path: '/v1/staff/projects',
  auth: ['staff'],
  ok: 200,
  query: listStaffProjectsQuery,
  handle: async ({ deps, query }) => {
    const { organization_id = null } = query;
    return listPage(deps, {
      query,
      route: '/v1/staff/projects',
      owner: EVERYBODY,
      filters: { organization_id },
      find: (page) => listProjects(deps.db, { ...page, organization_id }),
      present: (row) => presentStaffProject(row, deps),
    });
  },
});

export const getStaffProject = projectEndpoint({
  method: 'GET',
  path: '/v1/staff/projects/{slug}',
  auth: ['staff'],
  ok: 200,
  projects: 'own, staff any',
  moving: projectVolatileFields,
  handle: async ({ deps, principal, project, request_id }) => {
    const { organization_id, project_id, project_slug } = project;
    const actor = auditActor({ principal, request_id });
    const entry = { action: 'project.read', target: project_slug };
    await insertAuditEntry(deps.db, { organization_id, project_id, ...actor, ...entry });
    return presentStaffProject(project, deps);
  },
});

export const patchStaffProject = projectEndpoint({
  method: 'PATCH',
  path: '/v1/staff/projects/{slug}',
  auth: ['staff'],
  ok: 200,
  errors: ['custom_domain_taken'],
  projects: 'own, staff any',
  moving: projectVolatileFields,
  body: patchStaffProjectBody,
  handle: async ({ deps, principal, project: { project_id }, body, request_id, if_match }) => {
    refuseOwnHosts(deps, body.custom_domains ?? []);
    const actor = auditActor({ principal, request_id });
    const change = { project_id, input: body, actor };
    const row = await deps.db.transaction(async (tx) => {
      const before = await lockProject(tx, project_id);
      requireMatch(if_match, before && staffTag(before, deps));
      return changeProjectByStaff(tx, change);
    });
    return presentStaffProject(row, deps);
  },
  afterwards: forgetSessions,
});

export const listStaffFiles = projectEndpoint({
  method: 'GET',
  path: '/v1/staff/projects/{slug}/files',
  auth: ['staff'],
  ok: 200,
  projects: 'own, staff any',
  query: listStaffFilesQuery,
  handle: async ({ deps, project: { project_id, project_slug }, query }) => {
    const { status = null } = query;
    const q = query.q || null;
    return listPage(deps, {
      query,
      route: '/v1/staff/projects/{slug}/files',
      owner: project_id,
      filters: { status, q },
      find: (page) => listFiles(deps.db, { ...page, project_id, status, q }),
      present: (row) => presentFile(row, project_slug, deps.settings),
    });
  },
});

export const listStaffUploads = projectEndpoint({
  method: 'GET',
  path: '/v1/staff/projects/{slug}/uploads',
  auth: ['staff'],
  ok: 200,
  projects: 'own, staff any',
  query: listUploadsQuery,
  handle: async ({ deps, project: { project_id, project_slug }, query }) => {
    const { status = null } = query;
    return listPage(deps, {
      query,
      route: '/v1/staff/projects/{slug}/uploads',
      owner: project_id,
      filters: { status },
      find: (page) => listUploads(deps.db, { ...page, project_id, status }),
      present: (row) => presentUpload(row, project_slug),
    });
  },
});

function staffTag(project: ProjectRow, deps: ApiDeps): string {
  return entityTag(presentStaffProject(project, deps), projectVolatileFields);
}

/** Hosts below the root domain are reserved for projects by slug. */
function refuseOwnHosts({ settings }: ApiDeps, domains: readonly string[]): void {
  const root = settings.deliveryRootDomain.toLowerCase();
  const isOwn = (domain: string) => domain === root || domain.endsWith(`.${root}`);
  const message = `expected a host name that is not under ${root}, where each project already has its own host`;
  const issues = domains.flatMap((domain, index) =>
    isOwn(domain) ? [{ path: `custom_domains[${index}]`, message }] : [],
  );
  refuseWrongInput(issues);
}
