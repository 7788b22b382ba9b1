// Table libraries. Whoever puts something into a library locks its row until the commit, so that the library counts as
// empty, and is deleted, only when nothing is on its way into it. Spec: Library; Libraries.
import type { Queryable, Transaction } from './client.ts';
import { COUNTED_MAX } from './count-waiting.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';
import { prepared } from './prepared-statements.ts';
import { onlyRow } from './rows.ts';

export type LibraryRow = {
  library_id: string;
  project_id: string;
  library_slug: string;
  name: string;
  allowed_origins: string[];
  deleted_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

type LibraryOfProject = { project_id: string; library_slug: string };

const LIVE =
  'select * from libraries where project_id = $1 and library_slug = $2 and deleted_at is null';
const BY_SLUG = prepared(LIVE);

export async function findLibrary(
  db: Queryable,
  { project_id, library_slug }: LibraryOfProject,
): Promise<LibraryRow | undefined> {
  return (await db.query<LibraryRow>(BY_SLUG, [project_id, library_slug]))[0];
}

export async function isLibraryLive(db: Queryable, libraryId: string): Promise<boolean> {
  const rows = await db.query(
    'select 1 from libraries where library_id = $1 and deleted_at is null',
    [libraryId],
  );
  return rows.length > 0;
}

/** Locked against deletion until the transaction ends: a later deletion sees what was put in. */
export async function lockLibraryShared(
  tx: Transaction,
  { project_id, library_slug }: LibraryOfProject,
): Promise<LibraryRow | undefined> {
  return (await tx.query<LibraryRow>(`${LIVE} for share`, [project_id, library_slug]))[0];
}

/** Locked for a change. */
export async function lockLibrary(
  tx: Transaction,
  { project_id, library_slug }: LibraryOfProject,
): Promise<LibraryRow | undefined> {
  const rows = await tx.query<LibraryRow>(`${LIVE} for no key update`, [project_id, library_slug]);
  return rows[0];
}

/** Newest first, without deleted ones. */
export function listLibraries(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & { project_id: string },
): Promise<Page<LibraryRow>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

const LIST: FilteredList<LibraryRow, 'project_id'> = {
  select: 'select * from libraries',
  conditions: { project_id: (value) => `project_id = ${value} and deleted_at is null` },
  order: ['created_at', 'library_id'],
  idOf: (row) => row.library_id,
};

export type NewLibrary = Pick<
  LibraryRow,
  'library_id' | 'project_id' | 'library_slug' | 'name' | 'allowed_origins'
>;

/** Undefined if a library of the project has the slug. */
export async function insertLibrary(
  db: Queryable,
  library: NewLibrary,
): Promise<LibraryRow | undefined> {
  const { library_id, project_id, library_slug, name, allowed_origins } = library;
  const rows = await db.query<LibraryRow>(
    `insert into libraries (library_id, project_id, library_slug, name, allowed_origins)
     values ($1, $2, $3, $4, $5)
     on conflict (project_id, library_slug) where deleted_at is null do nothing returning *`,
    [library_id, project_id, library_slug, name, allowed_origins],
  );
  return rows[0];
}

/** Requires a lock on the row. */
export async function updateLibrary(
  tx: Transaction,
  {
    library_id,
    name,
    allowed_origins,
  }: Pick<LibraryRow, 'library_id' | 'name' | 'allowed_origins'>,
): Promise<LibraryRow | undefined> {
  const rows = await tx.query<LibraryRow>(
    `update libraries set name = $2, allowed_origins = $3, updated_at = now()
     where library_id = $1 returning *`,
    [library_id, name, allowed_origins],
  );
  return rows[0];
}

export async function updateLibraryDeleted(tx: Transaction, libraryId: string): Promise<void> {
  await tx.query(
    'update libraries set deleted_at = now(), updated_at = now() where library_id = $1',
    [libraryId],
  );
}

/**
 * What keeps a library from being deleted: files that are not deleted, and unfinished uploads. One
 * statement, so that an upload that is just being published counts as one of the two. It counts
 * each only up to `most`, as whoever puts something in waits meanwhile.
 */
export async function countLibraryContents(
  tx: Transaction,
  libraryId: string,
  most: number = COUNTED_MAX,
): Promise<{ files: number; uploads: number }> {
  const [row] = await tx.query<{ files: number; uploads: number }>(
    `select
       (select count(*) from (
          select from files where library_id = $1 and status <> 'deleted' limit $2) kept) as files,
       (select count(*) from (
          select from uploads where library_id = $1 and status in ('created', 'uploaded', 'processing')
          limit $2) begun) as uploads`,
    [libraryId, most],
  );
  return onlyRow(row);
}
