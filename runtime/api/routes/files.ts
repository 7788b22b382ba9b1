/** Spec: Endpoints, Files. */
import { deleteFile } from '../../actions/delete-file.ts';
import { ServiceError } from '../../core/errors.ts';
import type { FileRecord } from '../../core/resources/file.ts';
import { getFileQuery, listPlainFilesQuery } from '../../core/resources/file-query.ts';
import { parseFileSlug } from '../../core/slug.ts';
import { type FileRow, findFile, listFiles } from '../../db/files.ts';
import { auditActor } from '../audit-actor.ts';
import type { ApiDeps } from '../deps.ts';
import { projectEndpoint } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { presentFile, presentLocation } from '../present/file.ts';

export const listProjectFiles = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/files',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  query: listPlainFilesQuery,
  handle: async ({ deps, project, query }) => {
    const { status = null, q = null } = query;
    const { project_id, project_slug } = project;
    return listPage(deps, {
      query,
      route: '/v1/projects/{slug}/files',
      owner: project_id,
      filters: { status, q },
      find: (page) => listFiles(deps.db, { ...page, project_id, status, q }),
      present: (row) => present(deps, row, { project_slug, include: query.include }),
    });
  },
});

export const getFile = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/files/{fileSlug}',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  errors: ['file_not_found'],
  query: getFileQuery,
  handle: async ({ deps, project, params, query }) => {
    const file_slug = parseFileSlug(params['fileSlug'] ?? '');
    const { project_id, project_slug } = project;
    const file = file_slug && (await findFile(deps.db, { project_id, file_slug }));
    if (!file) throw new ServiceError('file_not_found');
    return present(deps, file, { project_slug, include: query.include });
  },
});

export const deleteProjectFile = projectEndpoint({
  method: 'DELETE',
  path: '/v1/projects/{slug}/files/{fileSlug}',
  auth: ['dash', 'key:files:write'],
  ok: 204,
  errors: ['file_not_found'],
  handle: async ({ deps, principal, project, params, request_id }) => {
    const file_slug = parseFileSlug(params['fileSlug'] ?? '');
    if (file_slug === undefined) throw new ServiceError('file_not_found');
    const actor = { ...auditActor(principal), request_id };
    const outcome = await deleteFile(deps.db, { project_id: project.project_id, file_slug, actor });
    if (outcome === 'never_existed') throw new ServiceError('file_not_found');
  },
});

function present(
  { settings }: ApiDeps,
  row: FileRow,
  { project_slug, include }: { project_slug: string; include: string | undefined },
): FileRecord {
  const record = presentFile(row, project_slug, settings);
  return include === undefined ? record : { ...record, ...presentLocation(row) };
}
