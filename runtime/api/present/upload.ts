/** An upload session's row as the API answers it. Spec: Upload session. */
import type { UploadRecord } from '../../core/resources/upload.ts';
import type { UploadRow } from '../../db/uploads.ts';

export function presentUpload(row: UploadRow, projectSlug: string): UploadRecord {
  return {
    upload_id: row.upload_id,
    project_slug: projectSlug,
    file_slug: row.file_slug,
    status: row.status,
    mode: row.mode,
    content_type: row.content_type,
    size_bytes: row.size_bytes,
    sha256: row.sha256,
    library: row.library,
    folder: row.folder,
    error_code: row.error_code,
    file_id: row.file_id,
    revision: row.revision,
    expires_at: row.expires_at.toISOString(),
    ready_at: row.ready_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
