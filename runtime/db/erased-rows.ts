// Removes data about pictures and people from rows of the tables files and uploads that outlive them: a limited number
// of rows per statement, however many files there are and however often one was uploaded. What lists, events and the
// next file of a slug read stays, and no `updated_at` changes: nobody changed anything. Spec: File; Upload session.
import type { Queryable } from './client.ts';
import { repeatWhileFull } from './delete-rows.ts';

const ROWS_AT_ONCE = 5000;

type DeletedFile = { file_id: string; revision: number; deleted_at: Date };

/**
 * For files deleted longer ago than that, with their revisions and the uploads of these; returns
 * how many files.
 */
export async function updateFilesErased(
  db: Queryable,
  ageSeconds: number,
  atOnce: number = ROWS_AT_ONCE,
): Promise<number> {
  let erased = 0;
  let after: DeletedFile | undefined;
  do {
    const due = await listDue(db, { ageSeconds, after, limit: atOnce });
    for (const files of byRevisions(due, atOnce)) erased += await eraseFiles(db, files, atOnce);
    after = due.length < atOnce ? undefined : due.at(-1);
  } while (after !== undefined);
  return erased;
}

type Due = { ageSeconds: number; after: DeletedFile | undefined; limit: number };

function listDue(db: Queryable, { ageSeconds, after, limit }: Due): Promise<DeletedFile[]> {
  return db.query(
    `select file_id, revision, deleted_at from files
     where status = 'deleted' and erased_at is null and deleted_at < now() - make_interval(secs => $1)
       and (deleted_at, file_id) > (coalesce($2::timestamptz, '-infinity'), $3::text)
     order by deleted_at, file_id limit $4`,
    [ageSeconds, after?.deleted_at ?? null, after?.file_id ?? '', limit],
  );
}

/** Groups of files that together have at most this many revisions, or a single file with more. */
function byRevisions(files: readonly DeletedFile[], atOnce: number): DeletedFile[][] {
  const parts: DeletedFile[][] = [];
  let room = 0;
  for (const file of files) {
    if (file.revision > room) {
      parts.push([]);
      room = atOnce;
    }
    parts.at(-1)?.push(file);
    room -= file.revision;
  }
  return parts;
}

/**
 * The files come last, so that an interrupted run is repeated. A locked file is left to the next
 * run.
 */
async function eraseFiles(
  db: Queryable,
  files: readonly DeletedFile[],
  atOnce: number,
): Promise<number> {
  const file_ids = files.map(({ file_id }) => file_id);
  const last = Math.max(...files.map(({ revision }) => revision));
  for (let first = 1; first <= last; first += atOnce) {
    await db.query(ERASE_REVISIONS, [file_ids, first, first + atOnce - 1]);
  }
  const rows = await db.query(ERASE_FILES, [file_ids]);
  return rows.length;
}

const ERASE_REVISIONS = `
  with revisions as (
    select file_id, revision, upload_id from file_revisions
    where file_id = any($1) and revision between $2 and $3
  ), drawings as (
    update file_revisions r set thumb_hash = null from revisions
    where r.file_id = revisions.file_id and r.revision = revisions.revision and r.thumb_hash is not null
  )
  update uploads u set title = null, original_filename = null, uploader = null, folder = ''
  from revisions where u.upload_id = revisions.upload_id
    and (num_nonnulls(title, original_filename, uploader) > 0 or folder <> '')`;

const ERASE_FILES = `
  with due as (
    select file_id from files where file_id = any($1) and status = 'deleted' and erased_at is null
    for no key update skip locked
  )
  update files f set erased_at = now(), title = null, alt_text = null, original_filename = null,
    uploader = null, taken_at = null, latitude = null, longitude = null, folder = ''
  from due where f.file_id = due.file_id returning 1`;

/**
 * For uploads that ended longer ago than that: the data has long been copied to a file. Returns how
 * many.
 */
export async function updateUploadsErased(db: Queryable, ageSeconds: number): Promise<number> {
  return repeatWhileFull(
    ROWS_AT_ONCE,
    async () => (await db.query(ERASE_UPLOADS, [ageSeconds, ROWS_AT_ONCE])).length,
  );
}

const ERASE_UPLOADS = `
  with due as (
    select upload_id from uploads
    where status in ('ready', 'failed', 'expired')
      and (num_nonnulls(title, original_filename, uploader) > 0 or (folder <> '' and status <> 'ready'))
      and updated_at < now() - make_interval(secs => $1)
    order by updated_at limit $2 for no key update skip locked
  )
  update uploads u set title = null, original_filename = null, uploader = null,
    folder = case when status = 'ready' then folder else '' end
  from due where u.upload_id = due.upload_id returning 1`;
