// Lists of table files inside a library, or by who uploaded them: filtered and sorted as callers ask. A condition stands
// in the text only where it is asked for, in the words of its index (library-indexes.ts). Spec: Files.
import type { GeoBox } from '../core/resources/file-query.ts';
import type { FileStatus } from '../core/states.ts';
import type { Queryable } from './client.ts';
import { CURRENT_REVISION, LISTED_COLUMNS, type ListedFile } from './files.ts';
import { type Page, type PageQuery, pageBy } from './keyset.ts';
import { FOLDER_KEY, LIBRARY_KEY, NAME_KEY, TAKEN_KEY } from './library-indexes.ts';

export type FileSort = 'uploaded' | 'name' | 'taken';

/** Undefined: whatever it is. */
export type LibraryFileFilters = {
  /** Undefined: every file that is not deleted. */
  status?: FileStatus | undefined;
  /** A prefix of the slug. */
  q?: string | undefined;
  /** Null: the default library. */
  library_id?: string | null | undefined;
  /** Files of this very folder. */
  folder?: string | undefined;
  /** Files of this folder and of all below it; empty: of every folder. */
  subtree?: string | undefined;
  /** A piece of title, original file name or slug, whatever its case. */
  search?: string | undefined;
  has_location?: boolean | undefined;
  bbox?: GeoBox | undefined;
  /** The subject's pseudonyms: one a key. */
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
  /** What rows are ordered by, before their position. */
  key: string;
  direction: 'asc' | 'desc';
  /** What a cursor carries of the last row of a page. */
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

/** The first is of $1, the project. */
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

/** Slugs, under "C": `~` is behind every character that one has. */
function beginsWith(prefix: string, place: Place): string[] {
  const from = place(prefix);
  return [`file_slug >= ${from}`, `file_slug < ${from} || '~'`];
}

function folderConditions({ folder, subtree }: LibraryFileFilters, place: Place): string[] {
  const exact = folder === undefined ? [] : [`${FOLDER_KEY} = ${place(`${folder}/`)}`];
  if (subtree === undefined || subtree === '') return exact;
  // A slash is followed by 0 among the bytes.
  return [
    ...exact,
    `${FOLDER_KEY} >= ${place(`${subtree}/`)}`,
    `${FOLDER_KEY} < ${place(`${subtree}0`)}`,
  ];
}

/** A west above its east goes across the antimeridian. */
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
 * Upper case of every script, so that ß meets SS and both sigmas meet; a decomposed letter meets the composed one. Most
 * texts are composed, and to see that takes a third of the time that composing them anew does.
 */
function folded(text: string): string {
  const composed = `case when ${text} is nfc normalized then ${text} else normalize(${text}, NFC) end`;
  return `upper((${composed}) collate "und-x-icu")`;
}

/** A slug is of ASCII. */
const SEARCHED = [folded('title'), folded('original_filename'), 'upper(file_slug)'];

function searchCondition(search: string, place: Place): string {
  const wanted = folded(`${place(search)}::text`);
  return `(${SEARCHED.map((text) => `strpos(${text}, ${wanted}) > 0`).join(' or ')})`;
}
