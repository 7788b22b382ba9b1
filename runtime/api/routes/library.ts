/** Spec: Endpoints, Library sessions and the picker: the picker's calls with its token. */
import { abortUpload } from '../../actions/abort-upload.ts';
import { completeUpload } from '../../actions/complete-upload.ts';
import { createLibraryUpload } from '../../actions/create-library-upload.ts';
import { uploadersOf } from '../../actions/library-session-status.ts';
import { requireFilterable } from '../../actions/require-filterable.ts';
import { ServiceError } from '../../core/errors.ts';
import { isId } from '../../core/ids.ts';
import { parseSearch } from '../../core/resources/file-query.ts';
import {
  createLibraryUploadBody,
  type LibraryUploadRecord,
  listLibraryFilesQuery,
} from '../../core/resources/library-session.ts';
import { findFileById } from '../../db/files.ts';
import { type LibraryFileFilters, listLibraryFiles } from '../../db/library-files.ts';
import { findProjectUpload, type UploadRow } from '../../db/uploads.ts';
import { requirePermission } from '../auth/library-session.ts';
import { type LibrarySessionPrincipal, requireLibrarySessionPrincipal } from '../auth/principal.ts';
import { type Call, endpoint } from '../endpoint.ts';
import { listPage } from '../list-page.ts';
import { libraryFilePresenter } from '../present/library-file.ts';

type SessionCall = Pick<Call<unknown, unknown>, 'deps' | 'principal' | 'params'>;

export const listSessionFiles = endpoint({
  method: 'GET',
  path: '/v1/library/files',
  auth: ['token'],
  ok: 200,
  errors: ['invalid_search', 'permission_denied', 'signing_key_missing', 'filter_unavailable'],
  query: listLibraryFilesQuery,
  handle: async ({ deps, principal, query }) => {
    const session = requireLibrarySessionPrincipal(principal);
    requirePermission(session, ['browse', 'browse_own']);
    const { project_id } = session.claims;
    const filters = filtersOf(session, query.search);
    const needs = filters.search === undefined ? 'indexes' : 'small';
    await requireFilterable(deps.db, { project_id, needs, settings: deps.settings });
    return listPage(deps, {
      query,
      route: '/v1/library/files',
      owner: project_id,
      // An uploader has one pseudonym per key, so a refreshed session has one more after a
      // rotation; its cursors must stay valid.
      filters: { ...filters, uploaders: filters.uploaders !== undefined },
      find: (page) => listLibraryFiles(deps.db, { ...page, project_id, sort: 'uploaded', filters }),
      present: libraryFilePresenter(deps, session),
    });
  },
});

function filtersOf(
  { claims }: LibrarySessionPrincipal,
  search: string | undefined,
): LibraryFileFilters {
  const isOwn = claims.permissions.includes('browse_own');
  return {
    status: 'ready',
    library_id: claims.library_id,
    subtree: claims.folder,
    search: search === undefined ? undefined : parseSearch(search),
    uploaders: isOwn ? uploadersOf(claims) : undefined,
  };
}

export const createSessionUpload = endpoint({
  method: 'POST',
  path: '/v1/library/uploads',
  auth: ['token:upload'],
  ok: 201,
  effect: 'once',
  errors: [
    'unsupported_content_type',
    'permission_denied',
    'storage_quota_exceeded',
    'project_suspended',
    'media_library_disabled',
    'file_too_large',
    'proxy_upload_too_large',
    'session_upload_limit',
  ],
  body: createLibraryUploadBody,
  handle: async ({ deps, principal, body: input }) => {
    const { claims, facts: project } = requireLibrarySessionPrincipal(principal);
    const { upload, way } = await createLibraryUpload(deps, { claims, project, input });
    return { ...presentUpload(upload), ...way, file: null };
  },
});

export const getSessionUpload = endpoint({
  method: 'GET',
  path: '/v1/library/uploads/{id}',
  auth: ['token'],
  ok: 200,
  errors: ['upload_not_found', 'signing_key_missing'],
  handle: async (call) => presentWithFile(call, await findOwnUpload(call)),
});

export const completeSessionUpload = endpoint({
  method: 'POST',
  path: '/v1/library/uploads/{id}/complete',
  auth: ['token'],
  ok: 200,
  errors: [
    'upload_not_found',
    'signing_key_missing',
    'ingest_object_missing',
    'ingest_size_mismatch',
    'upload_expired',
    'storage_unavailable',
  ],
  handle: async (call) => {
    const upload = await completeUpload(call.deps, await findOwnUpload(call));
    return presentWithFile(call, upload);
  },
});

/**
 * Frees the room of an upload that a person cancels, instead of holding it until the upload
 * expires. Our addition, like the abort of a project's uploads.
 */
export const abortSessionUpload = endpoint({
  method: 'POST',
  path: '/v1/library/uploads/{id}/abort',
  auth: ['token'],
  ok: 200,
  errors: ['upload_not_found', 'upload_not_pending'],
  handle: async (call) => {
    const upload = await abortUpload(call.deps, await findOwnUpload(call));
    return { ...presentUpload(upload), file: null };
  },
});

/** Finds an upload of this session; those of other sessions are not found. */
async function findOwnUpload({ deps, principal, params }: SessionCall): Promise<UploadRow> {
  const { session_id, project_id } = requireLibrarySessionPrincipal(principal).claims;
  const { id: upload_id = '' } = params;
  const upload =
    isId('upl', upload_id) && (await findProjectUpload(deps.db, { project_id, upload_id }));
  if (upload && upload.library_session_id === session_id) return upload;
  throw new ServiceError('upload_not_found');
}

/** Adds the current file, or null if it is blocked or deleted. */
async function presentWithFile(
  { deps, principal }: SessionCall,
  upload: UploadRow,
): Promise<LibraryUploadRecord> {
  const row = upload.file_id === null ? undefined : await findFileById(deps.db, upload.file_id);
  if (row?.status !== 'ready') return { ...presentUpload(upload), file: null };
  const present = libraryFilePresenter(deps, requireLibrarySessionPrincipal(principal));
  return { ...presentUpload(upload), file: present(row) };
}

function presentUpload(upload: UploadRow): Omit<LibraryUploadRecord, 'file' | 'proxy'> {
  const { upload_id, status, content_type, size_bytes, error_code } = upload;
  return {
    upload_id,
    status,
    content_type,
    size_bytes,
    error_code,
    expires_at: upload.expires_at.toISOString(),
    ready_at: upload.ready_at?.toISOString() ?? null,
  };
}
