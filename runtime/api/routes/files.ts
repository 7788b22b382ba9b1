/** Spec: Endpoints, Files. */
import type { z } from 'zod';
import { changeFile } from '../../actions/change-file.ts';
import { deleteFile } from '../../actions/delete-file.ts';
import { requireLibrary } from '../../actions/require-place.ts';
import { writeModerationNote } from '../../actions/write-moderation-note.ts';
import { ServiceError } from '../../core/errors.ts';
import {
  type FileRecord,
  type ModerationNoteRecord,
  moderationNoteBody,
  patchFileBody,
} from '../../core/resources/file.ts';
import {
  getFileQuery,
  listProjectFilesQuery,
  parseLibraryFilters,
} from '../../core/resources/file-query.ts';
import { parseFileSlug } from '../../core/slug.ts';
import { listFiles } from '../../db/file-lists.ts';
import { type FileRow, findFile } from '../../db/files.ts';
import { auditActor } from '../audit-actor.ts';
import { onlyDash } from '../auth/principal.ts';
import type { ApiDeps } from '../deps.ts';
import { projectEndpoint, type RawCall } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { presentFile, presentLocation } from '../present/file.ts';
import { presentModerationNote } from '../present/moderation-note.ts';

export const listProjectFiles = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/files',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  errors: [
    'library_not_found',
    'folder_requires_library',
    'filter_requires_library',
    'invalid_folder',
    'invalid_search',
    'invalid_bbox',
  ],
  query: listProjectFilesQuery,
  handle: async ({ deps, project, query }) => {
    refuseLibraryFilters(query);
    const { status = null, library = null } = query;
    const { project_id, project_slug } = project;
    const q = query.q || null;
    return listPage(deps, {
      query,
      route: '/v1/projects/{slug}/files',
      owner: project_id,
      filters: { status, q, library },
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
    const { project_id, project_slug } = project;
    const file = await findFile(deps.db, { project_id, file_slug: requireSlug({ params }) });
    if (file === undefined) throw new ServiceError('file_not_found');
    return present(deps, file, { project_slug, include: query.include });
  },
});

export const patchFile = projectEndpoint({
  method: 'PATCH',
  path: '/v1/projects/{slug}/files/{fileSlug}',
  auth: ['dash', 'key:files:write'],
  ok: 200,
  errors: ['file_not_found', 'library_not_found', 'invalid_folder', 'media_library_disabled'],
  body: patchFileBody,
  handle: async (call) => {
    const { deps, project, body, principal, request_id } = call;
    const { project_id, project_slug } = project;
    const file_slug = requireSlug(call);
    const actor = { ...auditActor(principal), request_id };
    const change = { project_id, file_slug, wish: body, settings: deps.settings, actor };
    return presentFile(await changeFile(deps.db, change), project_slug, deps.settings);
  },
});

export const deleteProjectFile = projectEndpoint({
  method: 'DELETE',
  path: '/v1/projects/{slug}/files/{fileSlug}',
  auth: ['dash', 'key:files:write'],
  ok: 204,
  errors: ['file_not_found'],
  handle: async (call) => {
    const { deps, principal, project, request_id } = call;
    const file_slug = requireSlug(call);
    const actor = { ...auditActor(principal), request_id };
    const outcome = await deleteFile(deps.db, { project_id: project.project_id, file_slug, actor });
    if (outcome === 'never_existed') throw new ServiceError('file_not_found');
  },
});

export const postModerationNote = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/files/{fileSlug}/moderation-notes',
  auth: ['dash'],
  ok: 201,
  errors: ['file_not_found'],
  body: moderationNoteBody,
  handle: async (call): Promise<ModerationNoteRecord> => {
    const { deps, principal, project, body, request_id } = call;
    const actor = { ...auditActor(principal), request_id };
    const row = await writeModerationNote(deps.db, {
      project_id: project.project_id,
      file_slug: requireSlug(call),
      note: body.note,
      author: onlyDash(principal).subject,
      actor,
    });
    return presentModerationNote(row, project.project_slug);
  },
});

function requireSlug({ params }: Pick<RawCall, 'params'>): string {
  const file_slug = parseFileSlug(params['fileSlug'] ?? '');
  if (file_slug === undefined) throw new ServiceError('file_not_found');
  return file_slug;
}

/**
 * What needs a library is refused without one, and by name with one: it must not seem to have been applied.
 */
function refuseLibraryFilters(query: z.infer<typeof listProjectFilesQuery>): void {
  if (query.library !== undefined) requireLibrary(query.library);
  parseLibraryFilters(query);
  const { folder, search, has_location, bbox } = query;
  const filters = Object.entries({ folder, search, has_location, bbox });
  const sent = filters.filter(([, value]) => value !== undefined).map(([name]) => name);
  if (query.sort !== 'uploaded') sent.push('sort');
  if (sent.length === 0) return;
  const message = 'not in this version: leave it out';
  throw new ServiceError('invalid_request', {
    details: { issues: sent.map((path) => ({ path, message })) },
  });
}

function present(
  { settings }: ApiDeps,
  row: FileRow,
  { project_slug, include }: { project_slug: string; include: string | undefined },
): FileRecord {
  const record = presentFile(row, project_slug, settings);
  return include === undefined ? record : { ...record, ...presentLocation(row) };
}
