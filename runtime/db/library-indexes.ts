// The indexes that library filters need in large projects. A job builds them later, and only where somebody wants them,
// since each makes every write of a file more expensive. Spec: Limits, unindexed-project threshold.
import type { Queryable } from './client.ts';
import { prepared } from './prepared-statements.ts';
import { onlyRow } from './rows.ts';

/** Null is the default library: an expression, so that an index can order it too. */
export const LIBRARY_KEY = `coalesce(library_id, '')`;
/** Every folder with a trailing slash, so that a subtree is one range: `a/b/` up to `a/b0`. */
export const FOLDER_KEY = `(folder || '/') collate "C"`;
/**
 * A file's display name: the uploader's, otherwise its slug. Lower case for every script, then
 * bytes.
 */
export const NAME_KEY = `lower(coalesce(original_filename, file_slug) collate "und-x-icu") collate "C"`;
/** Undated files last. */
export const TAKEN_KEY = `coalesce(taken_at, timestamptz '-infinity')`;

const IN_LIBRARY = `project_id, (${LIBRARY_KEY})`;
const LIVE = `status <> 'deleted'`;

/** By name: what follows `create index … on files`. */
export const LIBRARY_INDEXES: Readonly<Record<string, string>> = {
  files_library_in_order: `(${IN_LIBRARY}, position desc) where ${LIVE}`,
  files_library_folders: `(${IN_LIBRARY}, (${FOLDER_KEY}), position desc) where ${LIVE}`,
  files_library_names: `(${IN_LIBRARY}, (${NAME_KEY}), position) where ${LIVE}`,
  files_library_taken: `(${IN_LIBRARY}, (${TAKEN_KEY}) desc, position desc) where ${LIVE}`,
  files_library_located: `(${IN_LIBRARY}, position desc) where ${LIVE} and latitude is not null`,
  files_library_places: `(${IN_LIBRARY}, latitude, longitude) where ${LIVE} and latitude is not null`,
  files_of_uploader: `(project_id, uploader, position desc) where ${LIVE} and uploader is not null`,
};

export type ProjectSize = {
  /** All files that the project ever had, including deleted ones. */
  file_rows: number;
  /** Whether every library index exists and is valid. */
  is_indexed: boolean;
};

const SIZE = prepared(
  `select coalesce((select max(position) from files where project_id = $1), 0) as file_rows,
     (select count(*) from unnest($2::text[]) name join pg_index i on i.indexrelid = to_regclass(name)
      where i.indisvalid) = cardinality($2::text[]) as is_indexed`,
);

/** Reads one row of files and the catalog, however large the project is. */
export async function findProjectSize(db: Queryable, projectId: string): Promise<ProjectSize> {
  const [row] = await db.query<ProjectSize>(SIZE, [projectId, Object.keys(LIBRARY_INDEXES)]);
  return onlyRow(row);
}

/**
 * Runs each statement by itself, as none of them may run in a transaction. An interrupted build
 * leaves an invalid index: it is dropped and built again.
 */
export async function buildLibraryIndex(db: Queryable, name: string): Promise<'built' | 'there'> {
  const definition = LIBRARY_INDEXES[name];
  if (definition === undefined) throw new Error(`${name} is no index of libraries`);
  const [index] = await db.query<{ indisvalid: boolean }>(
    'select indisvalid from pg_index where indexrelid = to_regclass($1)',
    [name],
  );
  if (index?.indisvalid) return 'there';
  if (index !== undefined) await db.query(`drop index concurrently if exists ${name}`);
  await db.query(`create index concurrently ${name} on files ${definition}`);
  return 'built';
}
