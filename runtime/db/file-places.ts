// Table files, where many files move at once. Spec: Files (move).
import type { Transaction } from './client.ts';
import type { FileRow } from './files.ts';

export type PlacedFile = Pick<
  FileRow,
  'file_id' | 'file_slug' | 'library_id' | 'library' | 'folder'
>;

/** For rows of files, aliased f. */
const PLACES = `file_id, file_slug, f.library_id, folder, coalesce(library_slug, 'default') as library
  from f left join libraries l on l.library_id = f.library_id`;

/** The live files of these slugs, locked until the transaction ends, always in the same order. */
export async function lockLiveFiles(
  tx: Transaction,
  { project_id, file_slugs }: { project_id: string; file_slugs: readonly string[] },
): Promise<PlacedFile[]> {
  // Lock first, read second: a row that was waited for would be returned with its previous library.
  const locked = await tx.query<{ file_id: string }>(
    `select file_id from files where project_id = $1 and file_slug = any($2) and status <> 'deleted'
     order by file_slug for no key update`,
    [project_id, file_slugs],
  );
  return tx.query(`with f as (select * from files where file_id = any($1)) select ${PLACES}`, [
    locked.map(({ file_id }) => file_id),
  ]);
}

type NewPlace = {
  file_ids: readonly string[];
  folder: string;
  library_id: string | null | undefined;
};

/** With an undefined library each file keeps its own. Returns the files in their new places. */
export async function updateFilePlaces(
  tx: Transaction,
  { file_ids, folder, library_id }: NewPlace,
): Promise<PlacedFile[]> {
  const library = library_id === undefined ? '' : 'library_id = $3, ';
  return tx.query(
    `with f as (
       update files set ${library}folder = $2, updated_at = now() where file_id = any($1) returning *)
     select ${PLACES}`,
    library_id === undefined ? [file_ids, folder] : [file_ids, folder, library_id],
  );
}
