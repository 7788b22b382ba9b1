// Table uploads, until the bytes are accepted; then see upload-processing.ts and upload-ends.ts. Spec: Upload session.
import type { ProcessingErrorCode } from '../core/errors.ts';
import { statesBefore, type UploadStatus, uploadMoves } from '../core/states.ts';
import type { Queryable } from './client.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';

export type UploadRow = {
  upload_id: string;
  project_id: string;
  file_slug: string;
  status: UploadStatus;
  mode: 'direct' | 'proxy';
  content_type: string;
  size_bytes: number;
  /** Declared by the client; hex. */
  sha256: string | null;
  ingest_key: string;
  storage_upload_id: string | null;
  part_count: number | null;
  part_size: number | null;
  /** ETag of the stored object whose bytes last had an undeclared digest, and that digest; hex. */
  refused_etag: string | null;
  refused_sha256: string | null;
  /** When a PUT through the proxy last began. */
  put_began_at: Date | null;
  library_id: string | null;
  /** The library's slug; `default` for the default library. */
  library: string;
  folder: string;
  title: string | null;
  original_filename: string | null;
  uploader: Buffer | null;
  library_session_id: string | null;
  reserved_bytes: number;
  attempt: number;
  timeout_count: number;
  excused_count: number;
  put_off_count: number;
  lease_until: Date | null;
  error_code: ProcessingErrorCode | null;
  file_id: string | null;
  revision: number | null;
  expires_at: Date;
  /** Whether expires_at has come, by the database's clock. */
  is_expired: boolean;
  /** Until expires_at, by the database's clock; negative after it. */
  remaining_seconds: number;
  uploaded_at: Date | null;
  ready_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

export const UPLOAD_COLUMNS = `uploads.*, uploads.expires_at <= now() as is_expired,
  extract(epoch from uploads.expires_at - now())::float8 as remaining_seconds,
  coalesce((select l.library_slug from libraries l where l.library_id = uploads.library_id), 'default') as library`;

export type NewUpload = Pick<
  UploadRow,
  'upload_id' | 'project_id' | 'file_slug' | 'mode' | 'content_type' | 'size_bytes' | 'ingest_key'
> &
  Partial<
    Pick<
      UploadRow,
      | 'sha256'
      | 'storage_upload_id'
      | 'part_count'
      | 'part_size'
      | 'library_id'
      | 'folder'
      | 'title'
      | 'original_filename'
      | 'uploader'
      | 'library_session_id'
    >
  > & {
    lifetime_seconds: number;
    /** The plan's limit, for projects without a limit set by staff; null: none. */
    plan_storage_bytes: number | null;
  };

/**
 * Reserves the declared bytes and inserts the session in one statement, so that parallel calls
 * cannot exceed the limit. Undefined if the project is not active or lacks room, or its library is
 * gone.
 */
export async function insertUpload(
  db: Queryable,
  upload: NewUpload,
): Promise<UploadRow | undefined> {
  const rows = await db.query<UploadRow>(
    `with place as (
       select from libraries where library_id = $12 and deleted_at is null for share
     ), room as (
       update projects set reserved_bytes = reserved_bytes + $6
       where project_id = $2 and status = 'active' and ($12::text is null or exists (select from place))
         and (coalesce(storage_hard_limit_bytes, $19::bigint) is null
           or storage_bytes + reserved_bytes + $6 <= coalesce(storage_hard_limit_bytes, $19))
       returning project_id
     )
     insert into uploads (upload_id, project_id, file_slug, mode, content_type, size_bytes, ingest_key,
       sha256, storage_upload_id, part_count, part_size, library_id, folder, title, original_filename,
       uploader, library_session_id, expires_at)
     select $1, project_id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
       now() + make_interval(secs => $18)
     from room returning ${UPLOAD_COLUMNS}`,
    [
      upload.upload_id,
      upload.project_id,
      upload.file_slug,
      upload.mode,
      upload.content_type,
      upload.size_bytes,
      upload.ingest_key,
      upload.sha256 ?? null,
      upload.storage_upload_id ?? null,
      upload.part_count ?? null,
      upload.part_size ?? null,
      upload.library_id ?? null,
      upload.folder ?? '',
      upload.title ?? null,
      upload.original_filename ?? null,
      upload.uploader ?? null,
      upload.library_session_id ?? null,
      upload.lifetime_seconds,
      upload.plan_storage_bytes,
    ],
  );
  return rows[0];
}

/** By its id only: for callers whose credential is the upload itself. */
export async function findUpload(db: Queryable, uploadId: string): Promise<UploadRow | undefined> {
  const rows = await db.query<UploadRow>(
    `select ${UPLOAD_COLUMNS} from uploads where upload_id = $1`,
    [uploadId],
  );
  return rows[0];
}

export async function findProjectUpload(
  db: Queryable,
  { project_id, upload_id }: { project_id: string; upload_id: string },
): Promise<UploadRow | undefined> {
  const rows = await db.query<UploadRow>(
    `select ${UPLOAD_COLUMNS} from uploads where upload_id = $2 and project_id = $1`,
    [project_id, upload_id],
  );
  return rows[0];
}

/** By the key of its bytes, which storage events name. */
export async function listUploadsByIngestKey(
  db: Queryable,
  ingestKeys: readonly string[],
): Promise<UploadRow[]> {
  return db.query<UploadRow>(
    `select ${UPLOAD_COLUMNS} from uploads where ingest_key = any($1::text[])`,
    [ingestKeys],
  );
}

/** Newest first; of one status, or all if null. */
export function listUploads(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & { project_id: string; status: UploadStatus | null },
): Promise<Page<UploadRow>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

const LIST: FilteredList<UploadRow, 'project_id' | 'status'> = {
  select: `select ${UPLOAD_COLUMNS} from uploads`,
  conditions: {
    project_id: (value) => `project_id = ${value}`,
    status: (value) => `status = ${value}`,
  },
  order: ['created_at', 'upload_id'],
  idOf: (row) => row.upload_id,
};

/**
 * Sessions without accepted bytes, in order of id, after `after`: the sweep completes those whose
 * object exists, and expires others. In a suspended project, which accepts none, only expired ones.
 */
export async function listOpenUploads(
  db: Queryable,
  query: { after: string; limit: number; min_age_seconds: number },
): Promise<UploadRow[]> {
  return db.query(
    `select ${UPLOAD_COLUMNS} from uploads
     where status = 'created' and upload_id > $1 and created_at <= now() - make_interval(secs => $2)
       and (expires_at <= now() or ${OF_ACTIVE_PROJECT})
     order by upload_id limit $3`,
    [query.after, query.min_age_seconds, query.limit],
  );
}

/** With `exists` a planner would read all projects. */
const OF_ACTIVE_PROJECT = `(select p.status from projects p where p.project_id = uploads.project_id) = 'active'`;

/** Records that these bytes differ from the declared digest: nobody need read them again. */
export async function updateUploadRefusedBytes(
  db: Queryable,
  { upload_id, etag, sha256 }: { upload_id: string; etag: string; sha256: string },
): Promise<void> {
  await db.query(
    `update uploads set refused_etag = $2, refused_sha256 = $3 where upload_id = $1 and status = 'created'`,
    [upload_id, etag, sha256],
  );
}

/** created → uploaded if its project is active; of parallel calls, all but one get undefined. */
export async function updateUploadUploaded(
  db: Queryable,
  uploadId: string,
): Promise<UploadRow | undefined> {
  const rows = await db.query<UploadRow>(
    `update uploads set status = 'uploaded', uploaded_at = now(), updated_at = now()
     where upload_id = $1 and status = any($2) and ${OF_ACTIVE_PROJECT} returning ${UPLOAD_COLUMNS}`,
    [uploadId, statesBefore(uploadMoves, 'complete')],
  );
  return rows[0];
}

/** The keys that belong to uploads under way; other objects in the ingest bucket are leftovers. */
export async function listLiveIngestKeys(
  db: Queryable,
  ingestKeys: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ ingest_key: string }>(
    `select ingest_key from uploads
     where ingest_key = any($1) and status in ('created', 'uploaded', 'processing')`,
    [ingestKeys],
  );
  return rows.map((row) => row.ingest_key);
}

/** The storage's multipart uploads that a session still waits for. */
export async function listLiveMultiparts(
  db: Queryable,
  ingestKeys: readonly string[],
): Promise<string[]> {
  const rows = await db.query<{ storage_upload_id: string }>(
    `select storage_upload_id from uploads
     where ingest_key = any($1) and status = 'created' and storage_upload_id is not null`,
    [ingestKeys],
  );
  return rows.map((row) => row.storage_upload_id);
}
