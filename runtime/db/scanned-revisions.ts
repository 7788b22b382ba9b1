// The revision of a check, as needed for a picture of it, even if a newer revision has replaced it. Spec: Staff, checks
// (image).
import type { StoredType } from '../core/image/formats.ts';
import type { Queryable } from './client.ts';
import type { RevisionFacts } from './files.ts';

export type ScannedRevision = { project_id: string; content_type: StoredType } & Pick<
  RevisionFacts,
  | 'object_key'
  | 'size_bytes'
  | 'width'
  | 'height'
  | 'has_alpha'
  | 'is_lossless'
  | 'focal_x'
  | 'focal_y'
  | 'mezzanines'
>;

export async function findScannedRevision(
  db: Queryable,
  { file_id, revision }: { file_id: string; revision: number },
): Promise<ScannedRevision | undefined> {
  const rows = await db.query<ScannedRevision>(
    `select f.project_id, r.object_key, r.content_type, r.size_bytes, r.width, r.height, r.has_alpha,
       r.is_lossless, r.focal_x, r.focal_y, r.mezzanines
     from file_revisions r join files f using (file_id)
     where r.file_id = $1 and r.revision = $2`,
    [file_id, revision],
  );
  return rows[0];
}
