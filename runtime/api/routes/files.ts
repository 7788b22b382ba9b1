/** Spec: Endpoints, Files. */
import { changeFile } from '../../actions/change-file.ts';
import { deleteFile } from '../../actions/delete-file.ts';
import { moveFiles } from '../../actions/move-files.ts';
import { writeModerationNote } from '../../actions/write-moderation-note.ts';
import { ServiceError } from '../../core/errors.ts';
import {
  type ModerationNoteRecord,
  moderationNoteBody,
  moveFilesBody,
  patchFileBody,
} from '../../core/resources/file.ts';
import { getFileQuery } from '../../core/resources/file-query.ts';
import { parseFileSlug } from '../../core/slug.ts';
import { findFile } from '../../db/files.ts';
import { auditActor } from '../audit-actor.ts';
import { requireDashPrincipal } from '../auth/principal.ts';
import { projectEndpoint, type RawCall } from '../endpoint.ts';
import { filePresenter, presentFile } from '../present/file.ts';
import { presentModerationNote } from '../present/moderation-note.ts';

export const getFile = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/files/{fileSlug}',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  errors: ['file_not_found'],
  query: getFileQuery,
  handle: async ({ deps, project, params, query }) => {
    const { project_id } = project;
    const file = await findFile(deps.db, { project_id, file_slug: requireSlug({ params }) });
    if (file === undefined) throw new ServiceError('file_not_found');
    return filePresenter(deps.settings, project, query)(file);
  },
});

export const patchFile = projectEndpoint({
  method: 'PATCH',
  path: '/v1/projects/{slug}/files/{fileSlug}',
  auth: ['dash', 'key:files:write'],
  ok: 200,
  errors: [
    'file_not_found',
    'library_not_found',
    'invalid_folder',
    'media_library_disabled',
    'filter_unavailable',
  ],
  body: patchFileBody,
  handle: async (call) => {
    const { deps, project, body, principal, request_id } = call;
    const { project_id, project_slug } = project;
    const file_slug = requireSlug(call);
    const actor = auditActor({ principal, request_id });
    const change = { project_id, file_slug, input: body, settings: deps.settings, actor };
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
    const actor = auditActor({ principal, request_id });
    const outcome = await deleteFile(deps.db, { project_id: project.project_id, file_slug, actor });
    if (outcome === 'never_existed') throw new ServiceError('file_not_found');
  },
});

export const postModerationNote = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/files/{fileSlug}/moderation-notes',
  auth: ['dash'],
  ok: 201,
  effect: 'once',
  errors: ['file_not_found'],
  body: moderationNoteBody,
  handle: async (call): Promise<ModerationNoteRecord> => {
    const { deps, principal, project, body, request_id } = call;
    const actor = auditActor({ principal, request_id });
    const row = await writeModerationNote(deps.db, {
      project_id: project.project_id,
      file_slug: requireSlug(call),
      note: body.note,
      author: requireDashPrincipal(principal).subject,
      actor,
    });
    return presentModerationNote(row, project.project_slug);
  },
});

export const moveProjectFiles = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/files/move',
  auth: ['dash', 'key:files:write'],
  ok: 200,
  effect: 'once',
  errors: ['invalid_folder', 'library_not_found', 'media_library_disabled', 'filter_unavailable'],
  body: moveFilesBody,
  handle: async ({ deps, project: { project_id }, body: input, principal, request_id }) => {
    const actor = auditActor({ principal, request_id });
    return moveFiles(deps.db, { project_id, input, settings: deps.settings, actor });
  },
});

function requireSlug({ params }: Pick<RawCall, 'params'>): string {
  const file_slug = parseFileSlug(params['fileSlug'] ?? '');
  if (file_slug === undefined) throw new ServiceError('file_not_found');
  return file_slug;
}
