// Who needs the objects of the content bucket: read by the sweep alone. Spec: Upload session (status).
import type { Queryable } from './client.ts';

/** `object_keys`: what was published of it, in every revision, whether the bytes are still wanted or not. */
export type UploadContent = { upload_id: string; has_ended: boolean; object_keys: string[] };

/** An upload that has ended publishes nothing more: what it does not name now, it never will. */
export async function listUploadContents(
  db: Queryable,
  uploadIds: readonly string[],
): Promise<UploadContent[]> {
  return db.query(
    `select u.upload_id, u.status in ('ready', 'failed', 'expired') as has_ended,
       array_remove(array[r.object_key, r.raw_object_key]
         || array(select entry ->> 'object_key' from jsonb_array_elements(r.mezzanines) entry)
         || array(select value from jsonb_each_text(r.metadata)), null) as object_keys
     from uploads u left join file_revisions r on r.upload_id = u.upload_id
     where u.upload_id = any($1)`,
    [uploadIds],
  );
}

/** Before it the database knows nothing of any object, whoever wrote it. */
export async function findFirstUploadTime(db: Queryable): Promise<Date | undefined> {
  const [first] = await db.query<{ created_at: Date }>(
    'select created_at from uploads order by upload_id limit 1',
  );
  return first?.created_at;
}

/** What derived images are made of now; a file that is gone has no row. */
export type DerivedOwner = { file_id: string; generation: number; revision: number };

export async function listDerivedOwners(
  db: Queryable,
  fileIds: readonly string[],
): Promise<DerivedOwner[]> {
  return db.query(
    `select f.file_id, p.generation, f.revision from files f join projects p using (project_id)
     where f.file_id = any($1) and f.status <> 'deleted'`,
    [fileIds],
  );
}
