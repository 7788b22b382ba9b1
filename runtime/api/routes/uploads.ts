/** Spec: Endpoints, Uploads. */
import { abortUpload } from '../../actions/abort-upload.ts';
import { completeMultipart } from '../../actions/complete-multipart.ts';
import { completeUpload } from '../../actions/complete-upload.ts';
import { beginUpload, createUpload } from '../../actions/create-upload.ts';
import { signParts } from '../../actions/upload-methods.ts';
import { uploadExpired } from '../../actions/upload-refusals.ts';
import { ServiceError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import {
  COMPLETE_BODY_BYTES_MAX,
  COMPLETE_BODY_VALUES_MAX,
  MULTIPART_RESIGN_REMAINING_SECONDS_MIN,
} from '../../core/limits.ts';
import {
  completeUploadBody,
  createUploadBody,
  listUploadsQuery,
} from '../../core/resources/upload.ts';
import type { ProjectRow } from '../../db/projects.ts';
import { findProjectUpload, listUploads, type UploadRow } from '../../db/uploads.ts';
import type { ApiDeps } from '../deps.ts';
import { projectEndpoint, type RawCall } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { presentUpload } from '../present/upload.ts';

export const listProjectUploads = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/uploads',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  query: listUploadsQuery,
  handle: async ({ deps, project, query }) => {
    const { project_id, project_slug } = project;
    const { status = null } = query;
    return listPage(deps, {
      query,
      route: '/v1/projects/{slug}/uploads',
      owner: project_id,
      filters: { status },
      find: (page) => listUploads(deps.db, { ...page, project_id, status }),
      present: (row) => presentUpload(row, project_slug),
    });
  },
});

export const createProjectUpload = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/uploads',
  auth: ['dash', 'key:files:write'],
  ok: 201,
  effect: 'once',
  errors: [
    'unsupported_content_type',
    'invalid_part_size',
    'invalid_folder',
    'storage_quota_exceeded',
    'project_suspended',
    'library_not_found',
    'media_library_disabled',
    'file_too_large',
    'proxy_upload_too_large',
    'storage_unavailable',
  ],
  body: createUploadBody,
  prepare: ({ deps, project, body }) => beginUpload(deps, { project, input: body }),
  handle: async ({ deps, project, body }, begun) => {
    const { upload, way } = await createUpload(deps, { project, input: body }, begun);
    return { ...presentUpload(upload, project.project_slug), ...way };
  },
});

export const getProjectUpload = projectEndpoint({
  method: 'GET',
  path: '/v1/projects/{slug}/uploads/{id}',
  auth: ['dash', 'key:files:read'],
  ok: 200,
  errors: ['upload_not_found'],
  handle: async ({ deps, project, params }) => {
    const { project_id, project_slug } = project;
    return presentUpload(await findUpload(deps, { project_id, params }), project_slug);
  },
});

export const completeProjectUpload = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/uploads/{id}/complete',
  auth: ['dash', 'key:files:write'],
  ok: 200,
  errors: [
    'upload_not_found',
    'not_multipart',
    'parts_required',
    'invalid_parts',
    'multipart_complete_failed',
    'project_suspended',
    'ingest_object_missing',
    'ingest_size_mismatch',
    'upload_expired',
    'sha256_mismatch',
    'storage_unavailable',
  ],
  body: completeUploadBody,
  body_bytes_max: COMPLETE_BODY_BYTES_MAX,
  body_values_max: COMPLETE_BODY_VALUES_MAX,
  handle: async ({ deps, project, params, body }) => {
    const { project_id, project_slug } = project;
    refuseSuspended(project);
    const known = await findUpload(deps, { project_id, params });
    const isPlain = known.storage_upload_id === null && body?.parts === undefined;
    const completed = isPlain
      ? await completeUpload(deps, known)
      : await completeMultipart(deps, known, body?.parts);
    return presentUpload(completed, project_slug);
  },
});

/** Part URLs live 15 minutes and the session 12 hours, so a returning client asks for new URLs. */
export const resignUploadParts = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/uploads/{id}/parts',
  auth: ['dash', 'key:files:write'],
  ok: 200,
  errors: [
    'upload_not_found',
    'not_multipart',
    'project_suspended',
    'upload_not_resumable',
    'upload_expired',
    'storage_unavailable',
  ],
  handle: async ({ deps, project, params }) => {
    refuseSuspended(project);
    const upload = await findUpload(deps, { project_id: project.project_id, params });
    refuseResign(upload);
    return signParts(deps.buckets.ingest, upload);
  },
});

export const abortProjectUpload = projectEndpoint({
  method: 'POST',
  path: '/v1/projects/{slug}/uploads/{id}/abort',
  auth: ['dash', 'key:files:write'],
  ok: 200,
  errors: ['upload_not_found', 'upload_not_pending'],
  handle: async ({ deps, project, params }) => {
    const { project_id, project_slug } = project;
    const upload = await findUpload(deps, { project_id, params });
    return presentUpload(await abortUpload(deps, upload), project_slug);
  },
});

function refuseSuspended({ status }: ProjectRow): void {
  if (status !== 'active') throw new ServiceError('project_suspended');
}

function refuseResign(upload: UploadRow): void {
  const { status, storage_upload_id, remaining_seconds } = upload;
  if (storage_upload_id === null) throw new ServiceError('not_multipart');
  if (status === 'expired') throw uploadExpired(upload);
  if (status !== 'created') throw new ServiceError('upload_not_resumable', { details: { status } });
  if (remaining_seconds < MULTIPART_RESIGN_REMAINING_SECONDS_MIN) throw uploadExpired(upload);
}

async function findUpload(
  { db }: ApiDeps,
  { project_id, params }: { project_id: string; params: RawCall['params'] },
): Promise<UploadRow> {
  const { id: upload_id = '' } = params;
  const upload = isId('upl', upload_id) && (await findProjectUpload(db, { project_id, upload_id }));
  if (!upload) throw new ServiceError('upload_not_found');
  return upload;
}
