// Lists of table files inside a library, or by uploader: filtered and sorted as requested. The statement includes only
// the conditions of filters in use, spelled like their indexes (library-indexes.ts). Spec: Files.
import type { GeoBox } from '../core/resources/file-query.ts';
import type { FileStatus } from '../core/states.ts';
import type { Queryable } from './client.ts';
import { CURRENT_REVISION, LISTED_COLUMNS, type ListedFile } from './files.ts';
import { type Page, type PageQuery, pageBy } from './keyset.ts';
import { FOLDER_KEY, LIBRARY_KEY, NAME_KEY, TAKEN_KEY } from './library-indexes.ts';

export type FileSort = 'uploaded' | 'name' | 'taken';

/** Undefined: any value. */
export type LibraryFileFilters = {
  /** Undefined: every file that is not deleted. */
  status?: FileStatus | undefined;
  /** A prefix of the slug. */
  q?: string | undefined;
  /** Null: the default library. */
  library_id?: string | null | undefined;
  /** Files directly in this folder. */
  folder?: string | undefined;
  /** Files of this folder and all below it; empty: of every folder. */
  subtree?: string | undefined;
  /** A part of title, original file name or slug, ignoring case. */
  search?: string | undefined;
  has_location?: boolean | undefined;
  bbox?: GeoBox | undefined;
  /** The subject's pseudonyms: one per key. */
  uploaders?: readonly Buffer[] | undefined;
};

export type LibraryFileQuery = PageQuery & {
  project_id: string;
  sort: FileSort;
  filters: LibraryFileFilters;
};

type Sorted = ListedFile & { sort_key: unknown };

export async function listLibraryFiles(
  db: Queryable,
  { project_id, sort, filters, limit, after }: LibraryFileQuery,
): Promise<Page<ListedFile>> {
  const { key, direction, keysOf, isBehind } = SORTS[sort];
  const values: unknown[] = [project_id, limit + 1];
  const place = (value: unknown) => `$${values.push(value)}`;
  const conditions = conditionsOf(filters, place);
  if (after !== null) conditions.push(isBehind(after.map(place)));
  const rows = await db.query<Sorted>(
    `select ${LISTED_COLUMNS}, f.sort_key from (
       select *, ${key} as sort_key from files where ${conditions.join(' and ')}
       order by ${key} ${direction}, position ${direction} limit $2
     ) f ${CURRENT_REVISION} order by f.sort_key ${direction}, f.position ${direction}`,
    values,
  );
  return pageBy(rows, limit, keysOf);
}

type Sorting = {
  /** The expression that orders the rows, before their position. */
  key: string;
  direction: 'asc' | 'desc';
  /** The keys of a page's last row, for the cursor. */
  keysOf(row: Sorted): string[];
  isBehind(keys: string[]): string;
};

const SORTS: Readonly<Record<FileSort, Sorting>> = {
  uploaded: {
    key: 'position',
    direction: 'desc',
    keysOf: (row) => [String(row.position)],
    isBehind: ([position]) => `position < ${position}`,
  },
  name: {
    key: NAME_KEY,
    direction: 'asc',
    keysOf: (row) => [String(row.sort_key), String(row.position)],
    isBehind: ([name, position]) =>
      `(${NAME_KEY}, position) > (${name}::text collate "C", ${position}::bigint)`,
  },
  taken: {
    key: TAKEN_KEY,
    direction: 'desc',
    keysOf: (row) => [row.taken_at?.toISOString() ?? '-infinity', String(row.position)],
    isBehind: ([taken, position]) =>
      `(${TAKEN_KEY}, position) < (${taken}::timestamptz, ${position}::bigint)`,
  },
};

type Place = (value: unknown) => string;

/** The first condition is on $1, the project. */
function conditionsOf(filters: LibraryFileFilters, place: Place): string[] {
  const { status, q, library_id, has_location, bbox, uploaders, search } = filters;
  return [
    'project_id = $1',
    ...(status === 'deleted' ? [] : [`status <> 'deleted'`]),
    ...(status === undefined ? [] : [`status = ${place(status)}`]),
    ...(q === undefined ? [] : beginsWith(q, place)),
    ...(library_id === undefined ? [] : [`${LIBRARY_KEY} = ${place(library_id ?? '')}`]),
    ...folderConditions(filters, place),
    ...(has_location === undefined ? [] : [`latitude is ${has_location ? 'not null' : 'null'}`]),
    ...(bbox === undefined ? [] : boxConditions(bbox, place)),
    ...(uploaders === undefined ? [] : [uploaderCondition(uploaders, place)]),
    ...(search === undefined ? [] : [searchCondition(search, place)]),
  ];
}

/** Slugs use collation "C": `~` sorts after every character of a slug. */
function beginsWith(prefix: string, place: Place): string[] {
  const from = place(prefix);
  return [`file_slug >= ${from}`, `file_slug < ${from} || '~'`];
}

function folderConditions({ folder, subtree }: LibraryFileFilters, place: Place): string[] {
  const exact = folder === undefined ? [] : [`${FOLDER_KEY} = ${place(`${folder}/`)}`];
  if (subtree === undefined || subtree === '') return exact;
  // In bytes, `0` follows directly after a slash.
  return [
    ...exact,
    `${FOLDER_KEY} >= ${place(`${subtree}/`)}`,
    `${FOLDER_KEY} < ${place(`${subtree}0`)}`,
  ];
}

/** If west is greater than east, the box crosses the antimeridian. */
function boxConditions({ west, south, east, north }: GeoBox, place: Place): string[] {
  const [w, e] = [place(west), place(east)];
  const isBetween = west <= east ? 'and' : 'or';
  return [
    'latitude is not null',
    `latitude between ${place(south)} and ${place(north)}`,
    `(longitude >= ${w} ${isBetween} longitude <= ${e})`,
  ];
}

function uploaderCondition(uploaders: readonly Buffer[], place: Place): string {
  const [first, ...others] = uploaders;
  return others.length === 0
    ? `uploader = ${place(first ?? null)}`
    : `uploader = any(${place(uploaders)}::bytea[])`;
}

/**
 * Upper case for every script, so that ß matches SS and both sigmas match; a decomposed letter
 * matches the composed one. Most texts are composed, and checking that takes a third of the time of
 * composing them again.
 */
function folded(text: string): string {
  const composed = `case when ${text} is nfc normalized then ${text} else normalize(${text}, NFC) end`;
  return `upper((${composed}) collate "und-x-icu")`;
}

/** A slug contains only ASCII. */
const SEARCHED = [folded('title'), folded('original_filename'), 'upper(file_slug)'];

function searchCondition(search: string, place: Place): string {
  const wanted = folded(`${place(search)}::text`);
  return `(${SEARCHED.map((text) => `strpos(${text}, ${wanted}) > 0`).join(' or ')})`;
}
