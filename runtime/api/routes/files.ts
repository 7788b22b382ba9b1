/** Spec: Endpoints, Files. */
import { ServiceError } from '../../core/errors.ts';
import { getFileQuery, listFilesQuery } from '../../core/resources/file-query.ts';
import { parseFileSlug } from '../../core/slug.ts';
import { findFile, listFiles } from '../../db/files.ts';
import { projectEndpoint } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { presentFile, presentLocation } from '../present/file.ts';

export const listProjectFiles = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/files',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  query: listFilesQuery.pick({ status: true, q: true, limit: true, cursor: true }).strict(),
  handle: async ({ deps, project, query }) => {
    const { status = null, q = null } = query;
    const { project_id, project_slug } = project;
    return listPage(deps, {
      query,
      route: '/v1/projects/{slug}/files',
      owner: project_id,
      filters: { status, q },
      find: (page) => listFiles(deps.db, { ...page, project_id, status, q }),
      present: (row) => presentFile(row, project_slug, deps.settings),
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
    const record = presentFile(file, project_slug, deps.settings);
    return query.include === undefined ? record : { ...record, ...presentLocation(file) };
  },
});
