// Who needs the objects of the content bucket: only the sweep reads this. Spec: Upload session (status).
import type { Queryable } from './client.ts';

/**
 * `object_keys`: everything that was published from it, in every revision, whether or not the bytes
 * are still wanted.
 */
export type UploadContent = { upload_id: string; has_ended: boolean; object_keys: string[] };

/**
 * An upload that has ended publishes nothing more: it will never own an object that it does not
 * name now.
 */
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

/** The database knows nothing about objects written before this time, whoever wrote them. */
export async function findFirstUploadTime(db: Queryable): Promise<Date | undefined> {
  const [first] = await db.query<{ created_at: Date }>(
    'select created_at from uploads order by upload_id limit 1',
  );
  return first?.created_at;
}

/** What derived images are made from now; a deleted file has no row. */
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
