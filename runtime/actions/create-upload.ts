/**
 * Creates an upload session: checks type, size and room, reserves the declared bytes, and prepares the transfer.
 * Called by the tenant's API, by the picker's, and for images that resources declare. Spec: Upload session; Uploads.
 */
import { ServiceError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { formats } from '../core/image/formats.ts';
import { SVG_BYTES_MAX } from '../core/limits.ts';
import { type Plans, planStorageBytes } from '../core/plans.ts';
import type { CreateUpload, UploadRecord } from '../core/resources/upload.ts';
import type { Database } from '../db/client.ts';
import { isLibraryLive } from '../db/libraries.ts';
import { findProject, type ProjectRow } from '../db/projects.ts';
import { insertUpload, type NewUpload, type UploadRow } from '../db/uploads.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Buckets } from '../platform/storage/bucket.ts';
import { abortParts } from './abort-upload.ts';
import { requireLibraryWrites, requirePlace } from './require-place.ts';
import {
  chooseUploadMethod,
  type UploadAddresses,
  type UploadMethod,
  type UploadMethodDeps,
} from './upload-methods.ts';

export type UploadRequest = {
  project: ProjectRow;
  input: CreateUpload;
  /** For the picker: place, uploader and lifetime. */
  from?: SessionPart;
};

type SessionPart = Required<
  Pick<
    NewUpload,
    | 'library_id'
    | 'folder'
    | 'title'
    | 'original_filename'
    | 'uploader'
    | 'library_session_id'
    | 'lifetime_seconds'
  >
>;

export type UploadSettings = {
  readonly ingestMaxBytes: number;
  readonly avifUploads: 'enabled' | 'disabled';
  readonly svgUploads: 'enabled' | 'disabled';
  readonly mediaLibraryWrites: 'enabled' | 'disabled';
};

export type CreateUploadDeps = {
  db: Database;
  buckets: Buckets;
  clock: Clock;
  log: Log;
  settings: UploadSettings;
  addresses: UploadAddresses;
  plans: Plans;
};

/** The session, and its one upload method as the answer describes it. */
export type NewUploadSession = {
  upload: UploadRow;
  way: Awaited<ReturnType<UploadMethod['describe']>>;
};

/** Everything known of a session before its room is reserved. */
export type BegunUpload = Pick<
  NewUpload,
  'upload_id' | 'ingest_key' | 'storage_upload_id' | 'part_count' | 'part_size'
> &
  Pick<UploadRecord, 'direct'> &
  (SessionPart | Pick<SessionPart, 'library_id' | 'folder'>);

/** Begins the upload at the storage if its method requires that; the sweep ends what is abandoned. */
export async function beginUpload(
  deps: CreateUploadDeps,
  asked: UploadRequest,
): Promise<BegunUpload> {
  const { project, input } = asked;
  if (project.status !== 'active') throw new ServiceError('project_suspended');
  validateUploadRequest(input, deps.settings);
  const place = await placeOf(deps, asked);
  const upload_id = newId('upl', deps.clock.now().getTime());
  const ingest_key = `${project.project_id}/${upload_id}`;
  const begun = await chooseUploadMethod(input).begin(uploadMethodDeps(deps), input, ingest_key);
  return { upload_id, ingest_key, ...place, ...begun };
}

/** Without `begun`, calls beginUpload itself. */
export async function createUpload(
  deps: CreateUploadDeps,
  asked: UploadRequest,
  begun?: BegunUpload,
): Promise<NewUploadSession> {
  const { project, input } = asked;
  const known = begun ?? (await beginUpload(deps, asked));
  const method = chooseUploadMethod(input);
  const upload = await insertUpload(deps.db, {
    project_id: project.project_id,
    file_slug: input.file_slug ?? known.upload_id,
    mode: method.mode,
    content_type: input.content_type,
    size_bytes: input.size_bytes,
    sha256: input.sha256 ?? null,
    lifetime_seconds: method.lifetime_seconds,
    ...known,
    plan_storage_bytes: planStorageBytes(deps.plans, project.plan),
  });
  if (upload === undefined) {
    const { ingest_key, storage_upload_id = null } = known;
    // Not awaited: the transaction of an Idempotency-Key may be open, and it must never wait for
    // storage.
    void abortParts(deps, { ingest_key, storage_upload_id });
    throw await refusal(deps, asked, known);
  }
  const session = { ...upload, direct: known.direct };
  return {
    upload,
    way: await method.describe(uploadMethodDeps(deps), session, project.project_slug),
  };
}

function uploadMethodDeps({ buckets, addresses }: CreateUploadDeps): UploadMethodDeps {
  return { ingest: buckets.ingest, addresses };
}

async function placeOf(
  { db, settings }: CreateUploadDeps,
  { project: { project_id }, input, from }: UploadRequest,
): Promise<SessionPart | Pick<SessionPart, 'library_id' | 'folder'>> {
  if (from === undefined) {
    const { library_id, folder } = await requirePlace(db, { project_id, input, settings });
    return { library_id: library_id ?? null, folder: folder ?? '' };
  }
  if (from.library_id !== null || from.folder !== '') requireLibraryWrites(settings);
  return from;
}

type DeclaredBytes = Pick<CreateUpload, 'content_type' | 'size_bytes'>;

/** Throws unsupported_content_type or file_too_large, whichever project the upload is for. */
export function validateUploadRequest(input: DeclaredBytes, settings: UploadSettings): void {
  refuseType(input.content_type, settings);
  refuseSize(input, settings.ingestMaxBytes);
}

type Switches = Pick<UploadSettings, 'avifUploads' | 'svgUploads'>;

function refuseType(contentType: string, { avifUploads, svgUploads }: Switches): void {
  const isOff: Record<string, boolean> = {
    'image/avif': avifUploads === 'disabled',
    'image/svg+xml': svgUploads === 'disabled',
  };
  const accepted: string[] = formats
    .map(({ content_type }) => content_type)
    .filter((type) => !isOff[type]);
  if (accepted.includes(contentType)) return;
  const named = /^[\w.+/-]{1,100}$/.test(contentType) ? contentType : 'This type';
  const message = `${named} is not accepted: convert the image to one of ${accepted.join(', ')}, and send that as content_type.`;
  throw new ServiceError('unsupported_content_type', { message, details: { accepted } });
}

function refuseSize({ content_type, size_bytes }: DeclaredBytes, ingestMaxBytes: number): void {
  const isSvg = content_type === 'image/svg+xml';
  const max_bytes = isSvg ? Math.min(SVG_BYTES_MAX, ingestMaxBytes) : ingestMaxBytes;
  if (size_bytes > max_bytes) throw new ServiceError('file_too_large', { details: { max_bytes } });
}

/** Explains why nothing was reserved: no room, a suspended project, or a deleted library. */
async function refusal(
  { db, plans }: CreateUploadDeps,
  { project: { project_id }, input, from }: UploadRequest,
  { library_id }: BegunUpload,
): Promise<ServiceError> {
  const now = await findProject(db, project_id);
  if (now?.status !== 'active') return new ServiceError('project_suspended');
  // By its id, because another library may have its slug by now.
  if (library_id !== null && !(await isLibraryLive(db, library_id))) {
    return new ServiceError(from === undefined ? 'library_not_found' : 'session_revoked');
  }
  const details = {
    limit_bytes: now.storage_hard_limit_bytes ?? planStorageBytes(plans, now.plan),
    in_use_bytes: now.storage_bytes,
    reserved_bytes: now.reserved_bytes,
    size_bytes: input.size_bytes,
  };
  return new ServiceError('storage_quota_exceeded', { message: describeRoom(details), details });
}

type Room = Record<'limit_bytes' | 'in_use_bytes' | 'reserved_bytes' | 'size_bytes', number>;

function describeRoom({ limit_bytes, in_use_bytes, reserved_bytes, size_bytes }: Room): string {
  return `The project may store ${limit_bytes} bytes: ${in_use_bytes} are in use and ${reserved_bytes} reserved by uploads in progress, which leaves no room for ${size_bytes} more. Delete files, abort uploads or upgrade the plan.`;
}
