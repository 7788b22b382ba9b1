/** Spec: Endpoints, Uploads. */
import { completeUpload } from '../../actions/complete-upload.ts';
import { createUpload } from '../../actions/create-upload.ts';
import { ServiceError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import {
  completeUploadBody,
  createUploadBody,
  listUploadsQuery,
} from '../../core/resources/upload.ts';
import { findProjectUpload, listUploads, type UploadRow } from '../../db/uploads.ts';
import type { ApiDeps } from '../deps.ts';
import { projectEndpoint, type RawCall } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { planStorageBytes } from '../present/project.ts';
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
  errors: [
    'unsupported_content_type',
    'storage_quota_exceeded',
    'project_suspended',
    'library_not_found',
    'file_too_large',
  ],
  body: createUploadBody,
  handle: async ({ deps, project, body }) => {
    const { upload, direct } = await createUpload(deps, {
      project,
      wish: body,
      ingestMaxBytes: deps.settings.ingestMaxBytes,
      avifUploads: deps.settings.avifUploads,
      svgUploads: deps.settings.svgUploads,
      planStorageBytes: planStorageBytes(deps.plans, project.plan),
    });
    return { ...presentUpload(upload, project.project_slug), direct };
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
    'ingest_object_missing',
    'ingest_size_mismatch',
    'upload_expired',
    'sha256_mismatch',
  ],
  body: completeUploadBody,
  handle: async ({ deps, project, params, body }) => {
    const { project_id, project_slug } = project;
    const known = await findUpload(deps, { project_id, params });
    if (body?.parts !== undefined) throw new ServiceError('not_multipart');
    return presentUpload(await completeUpload(deps, known), project_slug);
  },
});

async function findUpload(
  { db }: ApiDeps,
  { project_id, params }: { project_id: string; params: RawCall['params'] },
): Promise<UploadRow> {
  const { id: upload_id = '' } = params;
  const upload = isId('upl', upload_id) && (await findProjectUpload(db, { project_id, upload_id }));
  if (!upload) throw new ServiceError('upload_not_found');
  return upload;
}
