// Table doomed_objects: bytes that nothing needs any more. The transaction that makes them useless inserts the row; a
// job later deletes the object, and then the row.
import type { Queryable } from './client.ts';

export type DoomedObjectRow = {
  doomed_id: number;
  bucket: 'ingest' | 'content';
  object_key: string;
  attempt: number;
};

/**
 * Due objects, each claimed for the lease: if the claimer dies, another takes them. Objects that
 * are served are never among them, whatever the table says.
 */
export async function claimDoomedObjects(
  db: Queryable,
  { limit, lease_seconds }: { limit: number; lease_seconds: number },
): Promise<DoomedObjectRow[]> {
  return db.query(
    `with due as (
       select doomed_id from doomed_objects d
       where delete_after <= now() and not exists (
         select from files f
         where f.file_id = d.file_id and f.revision = d.revision and f.status <> 'deleted')
       order by delete_after limit $1 for update skip locked
     )
     update doomed_objects set attempt = attempt + 1, delete_after = now() + make_interval(secs => $2)
     from due where doomed_objects.doomed_id = due.doomed_id
     returning doomed_objects.doomed_id, bucket, object_key, attempt`,
    [limit, lease_seconds],
  );
}

/** Called after its object is deleted. */
export async function deleteDoomedObject(db: Queryable, doomedId: number): Promise<void> {
  await db.query('delete from doomed_objects where doomed_id = $1', [doomedId]);
}
