/** Filters and orders of a list of files. Spec: Files, GET /v1/projects/{slug}/files. */
import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { parseFolder } from '../folder.ts';
import { SEARCH_LENGTH_MIN, SUBJECT_LENGTH_MAX, SUBJECT_LENGTH_MIN } from '../limits.ts';
import { fileStatuses } from '../states.ts';
import { countCharacters, hasUnsafeCharacters } from '../text.ts';
import { folderForm, searchForm, subjectForm } from './forms.ts';
import { flagParameter, oneOf, pageQuery, plainText, requestQuery } from './wire.ts';

const text = z.string({ error: 'expected a text' });
const plain = plainText('a text');

/** As programs print them: a double close to 0 has an exponent and some 17 decimals. */
const DEGREES = '-?[0-9]{1,3}(?:[.][0-9]{1,30})?(?:e-[0-9]{1,3})?';
const DEGREES_ALONE = new RegExp(`^${DEGREES}$`);

/** The query of the file list, before the combination of filters is checked. */
export const listFilesQuery = requestQuery({
  status: oneOf(fileStatuses).optional(),
  /** Slugs are lower-case. */
  q: plain.toLowerCase().optional(),
  library: plain.optional(),
  folder: text.meta(folderForm).optional(),
  recursive: flagParameter.default(false),
  search: text.meta(searchForm).optional(),
  has_location: flagParameter.optional(),
  bbox: text.meta({ pattern: `^${DEGREES}(,${DEGREES}){3}$` }).optional(),
  sort: oneOf(['uploaded', 'name', 'taken']).default('uploaded'),
  uploader: text.meta(subjectForm).optional(),
  include: text
    .refine((list) => list.split(',').every((word) => word === 'location'), {
      error: 'expected location, the only value of include',
    })
    .meta({ pattern: '^location(,location)*$' })
    .optional(),
  ...pageQuery,
});

/** The query of the file list. */
export type ListFilesQuery = z.infer<typeof listFilesQuery>;

/** The query of one file. */
export const getFileQuery = requestQuery({ include: listFilesQuery.shape.include });

/** The query of staff's lists of files: no library filters. */
export const listStaffFilesQuery = requestQuery({
  status: listFilesQuery.shape.status,
  q: listFilesQuery.shape.q,
  ...pageQuery,
});

/** A box in degrees; west greater than east crosses the antimeridian. */
export type GeoBox = { west: number; south: number; east: number; north: number };

/** Filters inside a library, each undefined if not requested. */
export type LibraryFilters = {
  folder: string | undefined;
  search: string | undefined;
  bbox: GeoBox | undefined;
};

/**
 * Checks the filters that need a library. Throws folder_requires_library, filter_requires_library,
 * invalid_folder, invalid_search or invalid_bbox.
 */
export function parseLibraryFilters(query: ListFilesQuery): LibraryFilters {
  if (query.library === undefined) refuseLibraryFilters(query);
  return {
    folder: query.folder === undefined ? undefined : requireFolder(query.folder),
    search: query.search === undefined ? undefined : parseSearch(query.search),
    bbox: query.bbox === undefined ? undefined : parseBox(query.bbox),
  };
}

/** The search text, trimmed. Throws invalid_search below two characters. */
export function parseSearch(search: string): string {
  const trimmed = search.trim();
  const isUsable = countCharacters(trimmed) >= SEARCH_LENGTH_MIN && !trimmed.includes('\0');
  if (!isUsable) throw new ServiceError('invalid_search');
  return trimmed;
}

/** The normalized folder. Throws invalid_folder. */
export function requireFolder(folder: string): string {
  const path = parseFolder(folder);
  if (path === undefined) throw new ServiceError('invalid_folder');
  return path;
}

/**
 * A subject. Throws invalid_subject unless it has 1 to 128 characters, none of them a control
 * character.
 */
export function requireSubject(subject: string): string {
  const length = countCharacters(subject);
  const isFit = length >= SUBJECT_LENGTH_MIN && length <= SUBJECT_LENGTH_MAX;
  if (!isFit || hasUnsafeCharacters(subject)) throw new ServiceError('invalid_subject');
  return subject;
}

/** west,south,east,north in degrees. Throws invalid_bbox. */
export function parseBox(text: string): GeoBox {
  const parts = text.split(',');
  const [west, south, east, north] = parts.map(parseDegrees);
  if (west === undefined || south === undefined || east === undefined || north === undefined) {
    throw new ServiceError('invalid_bbox');
  }
  const isInRange = isWithin(180, west, east) && isWithin(90, south, north);
  if (parts.length !== 4 || !isInRange || south > north) throw new ServiceError('invalid_bbox');
  return { west, south, east, north };
}

function refuseLibraryFilters(query: ListFilesQuery): void {
  if (query.folder !== undefined || query.recursive) {
    throw new ServiceError('folder_requires_library');
  }
  const filters = [query.search, query.has_location, query.bbox];
  if (query.sort !== 'uploaded' || filters.some((filter) => filter !== undefined)) {
    throw new ServiceError('filter_requires_library');
  }
}

function parseDegrees(text: string): number | undefined {
  return DEGREES_ALONE.test(text) ? Number(text) : undefined;
}

function isWithin(bound: number, ...degrees: number[]): boolean {
  return degrees.every((value) => Math.abs(value) <= bound);
}
