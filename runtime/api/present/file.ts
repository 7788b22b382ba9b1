/** A file's row as the API answers it. Spec: File. */
import { printDeliveryPath, printDeliveryUrl } from '../../core/delivery/url.ts';
import type { FileRecord } from '../../core/resources/file.ts';
import type { ListedFile } from '../../db/files.ts';
import type { ApiSettings } from '../deps.ts';
import { deliveryOrigin } from './delivery-origin.ts';

export function presentFile(
  row: ListedFile,
  projectSlug: string,
  settings: ApiSettings,
): FileRecord {
  return {
    file_slug: row.file_slug,
    file_id: row.file_id,
    status: row.status,
    revision: row.revision,
    width: row.width,
    height: row.height,
    url: printDeliveryUrl({
      ...deliveryOrigin(settings, projectSlug),
      path: printDeliveryPath({ kind: 'originals', file_slug: row.file_slug }),
    }),
    sha256: row.sha256,
    title: row.title,
    alt_text: row.alt_text,
    folder: row.folder,
    library: row.library,
    original_filename: row.original_filename,
    content_type: row.content_type,
    size_bytes: row.size_bytes,
    dominant_color: row.dominant_color,
    thumb_hash: row.thumb_hash?.toString('base64') ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Presents files as the project's own callers see them. */
export function filePresenter(
  settings: ApiSettings,
  { project_slug }: { project_slug: string },
  { include }: { include?: string | undefined },
): (row: ListedFile) => FileRecord {
  return (row) => {
    const record = presentFile(row, project_slug, settings);
    return include === undefined ? record : { ...record, ...presentLocation(row) };
  };
}

/** The fields that include=location adds. */
function presentLocation(row: ListedFile): Pick<FileRecord, 'location' | 'taken_at'> {
  const { latitude, longitude, taken_at } = row;
  return {
    location: latitude === null || longitude === null ? null : { latitude, longitude },
    taken_at: taken_at?.toISOString() ?? null,
  };
}
