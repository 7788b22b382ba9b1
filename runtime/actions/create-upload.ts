/**
 * A new upload session: type, size and room checked, the declared bytes reserved, a signed PUT URL made.
 * Two callers: the tenant's API and, later, the picker's. Spec: Upload session; Uploads.
 */
import { ServiceError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { SVG_BYTES_MAX, UPLOAD_SINGLE_LIFETIME_SECONDS } from '../core/limits.ts';
import type { CreateUpload, UploadRecord } from '../core/resources/upload.ts';
import { DEFAULT_LIBRARY, parseLibraryName } from '../core/slug.ts';
import type { Database } from '../db/client.ts';
import { findProject, type ProjectRow } from '../db/projects.ts';
import { insertUpload, type UploadRow } from '../db/uploads.ts';
import type { Clock } from '../platform/clock.ts';
import type { Buckets } from '../platform/storage/bucket.ts';

export type UploadWish = {
  project: ProjectRow;
  wish: CreateUpload;
  ingestMaxBytes: number;
  avifUploads: 'enabled' | 'disabled';
  svgUploads: 'enabled' | 'disabled';
  planStorageBytes: number;
};

export type NewUploadSession = {
  upload: UploadRow;
  direct: NonNullable<UploadRecord['direct']>;
};

export async function createUpload(
  deps: { db: Database; buckets: Buckets; clock: Clock },
  { project, wish, ...limits }: UploadWish,
): Promise<NewUploadSession> {
  if (project.status !== 'active') throw new ServiceError('project_suspended');
  refuseType(wish.content_type, limits);
  refuseSize(wish, limits.ingestMaxBytes);
  refusePlace(wish);
  const upload_id = newId('upl', deps.clock.now().getTime());
  const ingest_key = `${project.project_id}/${upload_id}`;
  const upload = await insertUpload(deps.db, {
    upload_id,
    ingest_key,
    project_id: project.project_id,
    file_slug: wish.file_slug ?? upload_id,
    mode: 'direct',
    content_type: wish.content_type,
    size_bytes: wish.size_bytes,
    sha256: wish.sha256 ?? null,
    lifetime_seconds: UPLOAD_SINGLE_LIFETIME_SECONDS,
    plan_storage_bytes: limits.planStorageBytes,
  });
  if (upload === undefined) throw await refusal(deps.db, project);
  return { upload, direct: await presignDirect(deps.buckets, upload) };
}

/** The types of the specification; the others are refused here, before any byte. */
const INGESTED_TYPES: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/avif',
  'image/gif',
  'image/tiff',
  'image/bmp',
  'image/svg+xml',
];

type Switches = Pick<UploadWish, 'avifUploads' | 'svgUploads'>;

function refuseType(contentType: string, { avifUploads, svgUploads }: Switches): void {
  const isOff: Record<string, boolean> = {
    'image/avif': avifUploads === 'disabled',
    'image/svg+xml': svgUploads === 'disabled',
  };
  const accepted = INGESTED_TYPES.filter((type) => !isOff[type]);
  if (accepted.includes(contentType)) return;
  const message = `This service takes ${accepted.join(', ')}; send one of these as content_type.`;
  throw new ServiceError('unsupported_content_type', { message, details: { accepted } });
}

function refuseSize({ content_type, size_bytes }: CreateUpload, ingestMaxBytes: number): void {
  const isSvg = content_type === 'image/svg+xml';
  const max_bytes = isSvg ? Math.min(SVG_BYTES_MAX, ingestMaxBytes) : ingestMaxBytes;
  if (size_bytes > max_bytes) throw new ServiceError('file_too_large', { details: { max_bytes } });
}

/** Proxy, multipart, libraries and folders are known fields that this version does not take. */
function refusePlace({ mode, parts, library, folder }: CreateUpload): void {
  if (library !== undefined && parseLibraryName(library) !== DEFAULT_LIBRARY)
    throw new ServiceError('library_not_found');
  const fields = [
    ...(mode === 'proxy' ? ['mode'] : []),
    ...(parts !== undefined && parts > 1 ? ['parts'] : []),
    ...(folder !== undefined && folder !== '' ? ['folder'] : []),
  ];
  if (fields.length === 0) return;
  const issues = fields.map((path) => ({
    path,
    message: 'is not taken by this version; leave it out',
  }));
  throw new ServiceError('invalid_request', { details: { issues } });
}

/** Why the reservation found no project to reserve in: no room, or suspended in the meantime. */
async function refusal(db: Database, { project_id }: ProjectRow): Promise<ServiceError> {
  const project = await findProject(db, project_id);
  return new ServiceError(
    project?.status === 'active' ? 'storage_quota_exceeded' : 'project_suspended',
  );
}

async function presignDirect(
  { ingest }: Buckets,
  upload: UploadRow,
): Promise<NewUploadSession['direct']> {
  const { url, headers, expires_at } = await ingest.presignPut(upload.ingest_key, {
    content_type: upload.content_type,
    size_bytes: upload.size_bytes,
    expires_in_seconds: UPLOAD_SINGLE_LIFETIME_SECONDS,
  });
  return {
    put_url: url,
    headers: {
      'content-type': headers['content-type'] ?? upload.content_type,
      'content-length': headers['content-length'] ?? String(upload.size_bytes),
    },
    expires_at: expires_at.toISOString(),
  };
}
