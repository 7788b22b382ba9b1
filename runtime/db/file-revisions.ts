// Tables files and file_revisions where they change together: publishing a revision and deleting a file. Both lock the
// project's row first, so that revisions have no gaps and the counters match the rows. Spec: States and transitions,
// File.
import { OLD_CONTENT_GRACE_SECONDS } from '../core/limits.ts';
import { fileMoves, statesBefore } from '../core/states.ts';
import type { Transaction } from './client.ts';
import { type FileRow, findFileById, type RevisionFacts } from './files.ts';
import { lockProjectRow } from './projects.ts';
import { onlyRow } from './rows.ts';

export type NewRevision = RevisionFacts &
  Pick<FileRow, 'project_id' | 'file_slug'> &
  Partial<
    Pick<
      FileRow,
      | 'library_id'
      | 'folder'
      | 'title'
      | 'original_filename'
      | 'uploader'
      | 'taken_at'
      | 'latitude'
      | 'longitude'
    >
  > & {
    upload_id: string;
    /** The id of the file if the slug has no live file. */
    new_file_id: string;
  };

/**
 * Publishes a revision under its slug: the next one of the live file, or the first of a new file. A
 * new file starts blocked, with a block count of 1, if the slug's last file was deleted while
 * blocked. Updates the counters, and dooms the replaced bytes. Returns the file as it is now.
 */
export async function insertFileRevision(tx: Transaction, next: NewRevision): Promise<FileRow> {
  await lockProjectRow(tx, next.project_id);
  const file = await upsertFile(tx, next);
  await insertRevisionRow(tx, next, file);
  await tx.query(
    `update projects set file_count = file_count + $2,
       storage_bytes = storage_bytes + $3 - coalesce(
         (select size_bytes from file_revisions where file_id = $4 and revision = $5 - 1), 0)
     where project_id = $1`,
    [next.project_id, file.revision === 1 ? 1 : 0, next.size_bytes, file.file_id, file.revision],
  );
  await doomRevision(tx, { file_id: file.file_id, revision: file.revision - 1 });
  return onlyRow(await findFileById(tx, file.file_id));
}

/** ready or blocked → deleted. Undefined if the slug has no live file. */
export async function deleteFile(
  tx: Transaction,
  { project_id, file_slug }: { project_id: string; file_slug: string },
): Promise<FileRow | undefined> {
  await lockProjectRow(tx, project_id);
  const [deleted] = await tx.query<{ file_id: string; revision: number }>(
    `update files set status = 'deleted', deleted_at = now(), updated_at = now()
     where project_id = $1 and file_slug = $2 and status = any($3) returning file_id, revision`,
    [project_id, file_slug, statesBefore(fileMoves, 'delete')],
  );
  if (deleted === undefined) return undefined;
  await tx.query(
    `update projects set file_count = file_count - 1, storage_bytes = storage_bytes -
       (select size_bytes from file_revisions where file_id = $2 and revision = $3)
     where project_id = $1`,
    [project_id, deleted.file_id, deleted.revision],
  );
  await doomRevision(tx, deleted);
  return findFileById(tx, deleted.file_id);
}

type Published = { file_id: string; revision: number };

/**
 * Uses the current time instead of the transaction's start, so that times match the order under the
 * lock.
 */
async function upsertFile(tx: Transaction, next: NewRevision): Promise<Published> {
  const [file] = await tx.query<Published>(
    `with last_block as (
       select blocked_by, blocked_reason, blocked_at
       from (select * from files where project_id = $2 and file_slug = $3
         order by created_at desc, file_id desc limit 1) newest
       where status = 'deleted' and blocked_by is not null
     )
     insert into files (file_id, project_id, file_slug, revision, library_id, folder, title,
       original_filename, uploader, taken_at, latitude, longitude,
       size_bytes, published_at, created_at, updated_at,
       status, blocked_by, blocked_reason, blocked_at, block_count)
     select $1, $2, $3, 1, $4, $5, $6, $7, $8, $9, $10, $11, $12, one.now, one.now, one.now,
       case when blocked_by is null then 'ready' else 'blocked' end,
       blocked_by, blocked_reason, blocked_at, case when blocked_by is null then 0 else 1 end
     from (select clock_timestamp() as now) one left join last_block on true
     on conflict (project_id, file_slug) where status <> 'deleted' do update set
       revision = files.revision + 1, size_bytes = excluded.size_bytes,
       published_at = excluded.published_at, updated_at = excluded.updated_at,
       uploader = excluded.uploader, taken_at = excluded.taken_at, latitude = excluded.latitude,
       longitude = excluded.longitude, title = coalesce(excluded.title, files.title),
       original_filename = coalesce(excluded.original_filename, files.original_filename)
     returning file_id, revision`,
    [
      next.new_file_id,
      next.project_id,
      next.file_slug,
      next.library_id ?? null,
      next.folder ?? '',
      next.title ?? null,
      next.original_filename ?? null,
      next.uploader ?? null,
      next.taken_at ?? null,
      next.latitude ?? null,
      next.longitude ?? null,
      next.size_bytes,
    ],
  );
  return onlyRow(file);
}

async function insertRevisionRow(
  tx: Transaction,
  next: NewRevision,
  { file_id, revision }: Published,
): Promise<void> {
  await tx.query(
    `insert into file_revisions (file_id, revision, upload_id, object_key, content_type, size_bytes,
       sha256, source_content_type, source_size_bytes, source_sha256, width, height, has_alpha,
       is_lossless, focal_x, focal_y, dominant_color, thumb_hash, mezzanines, raw_object_key, metadata)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
    [
      file_id,
      revision,
      next.upload_id,
      next.object_key,
      next.content_type,
      next.size_bytes,
      next.sha256,
      next.source_content_type,
      next.source_size_bytes,
      next.source_sha256,
      next.width,
      next.height,
      next.has_alpha,
      next.is_lossless,
      next.focal_x,
      next.focal_y,
      next.dominant_color,
      next.thumb_hash,
      JSON.stringify(next.mezzanines),
      next.raw_object_key,
      JSON.stringify(next.metadata),
    ],
  );
}

/**
 * Dooms every object of a revision, to be deleted after the grace period; none if the revision does
 * not exist.
 */
async function doomRevision(tx: Transaction, { file_id, revision }: Published): Promise<void> {
  await tx.query(
    `insert into doomed_objects (bucket, object_key, file_id, revision, delete_after)
     select 'content', object.key, file_id, revision, now() + make_interval(secs => $3)
     from file_revisions, lateral (
       select object_key as key
       union select raw_object_key
       union select entry ->> 'object_key' from jsonb_array_elements(mezzanines) entry
       union select value from jsonb_each_text(metadata)
     ) object
     where file_id = $1 and revision = $2 and object.key is not null
     on conflict (bucket, object_key) do nothing`,
    [file_id, revision, OLD_CONTENT_GRACE_SECONDS],
  );
}
