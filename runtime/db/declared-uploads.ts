/**
 * The state of an image that a resource declares: the file of its slug and who uploaded it, and the last attempted
 * upload. Spec: Watermark preset.
 */
import type { ProcessingErrorCode } from '../core/errors.ts';
import type { UploadStatus } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';
import { onlyRow } from './rows.ts';

export type UploadOwner = { owner_namespace: string; owner_name: string };

export type DeclaredImageRow = {
  file: {
    status: 'ready' | 'blocked' | 'deleted';
    revision: number;
    sha256: string | null;
    /**
     * The resource that uploaded it; null if none did. `is_elsewhere`: its preset belongs to
     * another cluster.
     */
    owner: { namespace: string; name: string; is_elsewhere: boolean } | null;
  } | null;
  upload: {
    upload_id: string;
    status: UploadStatus;
    sha256: string | null;
    error_code: ProcessingErrorCode | null;
    /** Since the upload's last change. */
    age_seconds: number;
  } | null;
};

/** `upload` is the newest one that the resource made for the slug. */
export async function findDeclaredImage(
  db: Queryable,
  place: UploadOwner & { project_id: string; file_slug: string },
): Promise<DeclaredImageRow> {
  const { project_id, file_slug, owner_namespace, owner_name } = place;
  const [row] = await db.query<DeclaredImageRow>(
    `select
       (select json_build_object('status', f.status, 'revision', f.revision, 'sha256', r.source_sha256,
          'owner', case when d.upload_id is not null
            then json_build_object('namespace', d.owner_namespace, 'name', d.owner_name, 'is_elsewhere',
              exists (select from watermark_presets w join owners_elsewhere using (owner_uid)
                where w.project_id = f.project_id and w.owner_namespace = d.owner_namespace
                  and w.owner_name = d.owner_name)) end)
        from files f join file_revisions r using (file_id, revision)
        left join declared_uploads d on d.upload_id = r.upload_id
        where f.project_id = $1 and f.file_slug = $2 and f.status <> 'deleted') as file,
       (select json_build_object('upload_id', u.upload_id, 'status', u.status, 'sha256', u.sha256,
          'error_code', u.error_code, 'age_seconds', extract(epoch from now() - u.updated_at))
        from uploads u join declared_uploads d using (upload_id)
        where u.project_id = $1 and u.file_slug = $2 and d.owner_namespace = $3 and d.owner_name = $4
        order by u.created_at desc, u.upload_id desc limit 1) as upload`,
    [project_id, file_slug, owner_namespace, owner_name],
  );
  return onlyRow(row);
}

export async function insertDeclaredUpload(
  tx: Transaction,
  { upload_id, owner_namespace, owner_name }: UploadOwner & { upload_id: string },
): Promise<void> {
  await tx.query(
    'insert into declared_uploads (upload_id, owner_namespace, owner_name) values ($1, $2, $3)',
    [upload_id, owner_namespace, owner_name],
  );
}
