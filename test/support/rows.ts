// Database rows for tests: each function creates one valid row, given the rows that it depends on.
import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../../runtime/core/ids.ts';
import { claimUpload } from '../../runtime/db/claim-upload.ts';
import type { Database, Queryable } from '../../runtime/db/client.ts';
import { insertFileRevision, type NewRevision } from '../../runtime/db/file-revisions.ts';
import type { FileRow } from '../../runtime/db/files.ts';
import { insertOrganization, type OrganizationRow } from '../../runtime/db/organizations.ts';
import { insertProject, type NewProject, type ProjectRow } from '../../runtime/db/projects.ts';
import { updateUploadReady } from '../../runtime/db/upload-processing.ts';
import {
  insertUpload,
  type NewUpload,
  type UploadRow,
  updateUploadUploaded,
} from '../../runtime/db/uploads.ts';

export const id = (prefix: Parameters<typeof newId>[0]) => newId(prefix, Date.now());
export const randomHash = () => createHash('sha256').update(randomBytes(16)).digest('hex');

export async function makeOrganization(db: Queryable): Promise<OrganizationRow> {
  return must(
    await insertOrganization(db, { organization_id: id('org'), name: 'Acme', plan: 'trial' }),
  );
}

export async function makeProject(
  db: Queryable,
  settings: Partial<NewProject> = {},
): Promise<ProjectRow> {
  const organization_id = settings.organization_id ?? (await makeOrganization(db)).organization_id;
  const project_slug = `p-${randomBytes(6).toString('hex')}`;
  return must(
    await insertProject(db, {
      project_id: id('prj'),
      project_slug,
      name: 'Shop',
      ...settings,
      organization_id,
    }),
  );
}

export function newUpload(
  project: Pick<ProjectRow, 'project_id'>,
  settings: Partial<NewUpload> = {},
): NewUpload {
  const upload_id = id('upl');
  return {
    upload_id,
    project_id: project.project_id,
    file_slug: upload_id,
    mode: 'direct',
    content_type: 'image/png',
    size_bytes: 1000,
    ingest_key: `${project.project_id}/${upload_id}`,
    lifetime_seconds: 900,
    plan_storage_bytes: null,
    ...settings,
  };
}

export async function makeUpload(
  db: Queryable,
  project: Pick<ProjectRow, 'project_id'>,
  settings: Partial<NewUpload> = {},
): Promise<UploadRow> {
  return must(await insertUpload(db, newUpload(project, settings)));
}

/** Creates an upload that a worker has just claimed. */
export async function makeProcessing(
  db: Queryable,
  project: Pick<ProjectRow, 'project_id'>,
  settings: Partial<NewUpload> = {},
): Promise<UploadRow> {
  const { upload_id } = await makeUpload(db, project, settings);
  await updateUploadUploaded(db, upload_id);
  return must(await claimUpload(db, { upload_id, lease_seconds: 60 }));
}

export function newRevision(upload: UploadRow, settings: Partial<NewRevision> = {}): NewRevision {
  const key = `${upload.project_id}/${upload.upload_id}`;
  return {
    project_id: upload.project_id,
    file_slug: upload.file_slug,
    upload_id: upload.upload_id,
    library_id: upload.library_id,
    folder: upload.folder,
    title: upload.title,
    original_filename: upload.original_filename,
    uploader: upload.uploader,
    new_file_id: id('file'),
    object_key: `${key}/master`,
    content_type: 'image/png',
    size_bytes: upload.size_bytes,
    sha256: randomHash(),
    source_content_type: upload.content_type,
    source_size_bytes: upload.size_bytes,
    source_sha256: randomHash(),
    width: 640,
    height: 480,
    has_alpha: false,
    is_lossless: true,
    focal_x: 0.5,
    focal_y: 0.5,
    dominant_color: '#336699',
    thumb_hash: null,
    mezzanines: [
      {
        long_edge: 1024,
        width: 1024,
        height: 768,
        object_key: `${key}/1024`,
        content_type: 'image/webp',
        size_bytes: 10,
      },
    ],
    raw_object_key: null,
    metadata: { exif: `${key}/exif` },
    ...settings,
  };
}

/** Publishes an upload in processing, with everything that publishing does in the database. */
export async function publish(
  db: Database,
  upload: UploadRow,
  settings: Partial<NewRevision> = {},
): Promise<FileRow> {
  return db.transaction(async (tx) => {
    const file = await insertFileRevision(tx, newRevision(upload, settings));
    must(
      await updateUploadReady(tx, {
        upload_id: upload.upload_id,
        attempt: upload.attempt,
        file_id: file.file_id,
        revision: file.revision,
      }),
    );
    return file;
  });
}

export async function makeFile(
  db: Database,
  project: Pick<ProjectRow, 'project_id'>,
  settings: Partial<NewUpload> = {},
): Promise<FileRow> {
  return publish(db, await makeProcessing(db, project, settings));
}

export function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a row was expected');
  return value;
}

/**
 * Inserts a scanner check of the file's current revision, by default flagged for nudity. Returns
 * its id.
 */
export async function makeCheck(
  db: Queryable,
  { project_id, file_id, revision }: Pick<FileRow, 'project_id' | 'file_id' | 'revision'>,
  flags: readonly string[] = ['nudity'],
): Promise<string> {
  const check_id = id('chk');
  await db.query(
    `insert into scanner_checks (check_id, project_id, file_id, revision, status, flags, scores, scanned_at)
     values ($1, $2, $3, $4, $5, $6, '{"nudity": 0.9}', now())`,
    [check_id, project_id, file_id, revision, flags.length > 0 ? 'flagged' : 'clear', flags],
  );
  return check_id;
}

/** Inserts presets named `many-1` and so on, as if created through the API. */
export async function makeWatermarkPresets(
  db: Queryable,
  { project_id, file_id }: Pick<FileRow, 'project_id' | 'file_id'>,
  count: number,
): Promise<void> {
  await db.query(
    `insert into watermark_presets
       (watermark_preset_id, project_id, name, file_id, x_offset, y_offset, opacity)
     select 'wm_' || left(md5($1 || n), 26), $1, 'many-' || n, $2, 0, 0, 100
     from generate_series(1, $3::int) n`,
    [project_id, file_id, count],
  );
}
