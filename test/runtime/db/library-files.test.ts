// Compares file lists within a library with a model that filters and sorts in memory. Spec: Files (filters, sorts,
// cursors).
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { isFolderWithin } from '../../../runtime/core/folder.ts';
import type { GeoBox } from '../../../runtime/core/resources/file-query.ts';
import { insertLibrary } from '../../../runtime/db/libraries.ts';
import {
  type FileSort,
  type LibraryFileFilters,
  listLibraryFiles,
} from '../../../runtime/db/library-files.ts';
import { buildLibraryIndex, LIBRARY_INDEXES } from '../../../runtime/db/library-indexes.ts';
import { useDatabase } from '../../support/database.ts';
import { id, makeFile, makeProject, must } from '../../support/rows.ts';

const { db } = useDatabase();
let projectId = '';
let libraryId = '';
let rows: Row[] = [];

/** Random filter combinations per test; set the variable for a longer run. */
const RUNS = Number(process.env['TINTYPE_LIBRARY_RUNS'] ?? 60);

type Row = {
  file_slug: string;
  status: 'ready' | 'blocked' | 'deleted';
  position: number;
  library_id: string | null;
  folder: string;
  title: string | null;
  original_filename: string | null;
  uploader: Buffer | null;
  taken_at: Date | null;
  latitude: number | null;
  longitude: number | null;
};

const FOLDERS = ['', 'a', 'a/b', 'a/b/c', 'ab', 'a!', 'A', 'ä/ö'];
const TITLES = [null, 'Red Shoe', 'STRASSE', 'Straße', 'ΟΔΟΣ 7', 'Файл', '100%_off', 'cafe\u0301'];
const NAMES = [null, 'B.png', 'a.png', 'Ä.png', 'äB.png', 'a.png', 'Вера.png', 'анна.png'];
const PLACES = [null, [0, 179.5], [0, -179.5], [45, 7], [90, 180], [-90, -180]] as const;
const UPLOADERS = [null, Buffer.from('one'), Buffer.from('two')];
const DAYS = [null, '2024-01-01', '2024-01-01', '2026-11-21', '1999-12-31'];

const pick = <T>(values: readonly T[], seed: number): T => must(values[seed % values.length]) as T;

beforeAll(async () => {
  const project = await makeProject(db);
  projectId = project.project_id;
  libraryId = id('lib');
  const library = { library_id: libraryId, project_id: projectId, library_slug: 'press' };
  await insertLibrary(db, { ...library, name: 'Press', allowed_origins: [] });
  for (let n = 0; n < 64; n++) {
    await makeFile(db, project, {
      file_slug: `f${(n * 37) % 64}-${n % 5 === 0 ? 'x%y' : 'xy'}`.replace('%', '.'),
      library_id: n % 4 === 0 ? null : libraryId,
      folder: pick(FOLDERS, n * 7),
      title: pick([...TITLES], n * 5 + 1),
      original_filename: pick([...NAMES], n * 3),
      uploader: pick([...UPLOADERS], n),
    });
  }
  await scatter();
  rows = await db.query<Row>('select * from files where project_id = $1', [projectId]);
});

/** Sets locations and dates, and blocks some files. */
async function scatter(): Promise<void> {
  for (let n = 1; n <= 64; n++) {
    const [latitude, longitude] = pick([...PLACES], n * 11) ?? [null, null];
    await db.query(
      `update files set latitude = $3, longitude = $4, taken_at = $5::timestamptz
       where project_id = $1 and position = $2`,
      [projectId, n, latitude, longitude, pick([...DAYS], n * 13)],
    );
  }
  await db.query(
    `update files set status = 'blocked', blocked_by = 'staff', blocked_at = now()
     where project_id = $1 and position % 9 = 0`,
    [projectId],
  );
}

const upper = (text: string) => text.normalize('NFC').toUpperCase();
const inBox = ({ latitude, longitude }: Row, { west, south, east, north }: GeoBox) => {
  if (latitude === null || longitude === null || latitude < south || latitude > north) return false;
  return west <= east
    ? longitude >= west && longitude <= east
    : longitude >= west || longitude <= east;
};

function fits(row: Row, filters: LibraryFileFilters): boolean {
  const { status, q, library_id, folder, subtree, search, has_location, bbox, uploaders } = filters;
  const texts = [row.title, row.original_filename, row.file_slug];
  const checks = [
    status === undefined || row.status === status,
    q === undefined || row.file_slug.startsWith(q),
    library_id === undefined || row.library_id === library_id,
    folder === undefined || row.folder === folder,
    subtree === undefined || isFolderWithin(row.folder, subtree),
    search === undefined || texts.some((text) => upper(text ?? '').includes(upper(search))),
    has_location === undefined || (row.latitude !== null) === has_location,
    bbox === undefined || inBox(row, bbox),
    uploaders === undefined || uploaders.some((one) => row.uploader?.equals(one)),
  ];
  return checks.every(Boolean);
}

const nameOf = (row: Row) =>
  Buffer.from((row.original_filename ?? row.file_slug).replace(/\p{L}/gu, (c) => c.toLowerCase()));
const takenOf = ({ taken_at }: Row) => taken_at?.getTime() ?? Number.NEGATIVE_INFINITY;
const newest = (a: Row, b: Row) => b.position - a.position;

const ORDER: Record<FileSort, (a: Row, b: Row) => number> = {
  uploaded: newest,
  name: (a, b) => Buffer.compare(nameOf(a), nameOf(b)) || a.position - b.position,
  taken: (a, b) => (takenOf(a) === takenOf(b) ? newest(a, b) : takenOf(b) - takenOf(a)),
};

const choices = {
  status: fc.constantFrom('ready', 'blocked'),
  q: fc.constantFrom('f', 'f1', 'f37-', 'zz'),
  library_id: fc.constantFrom('named', 'default'),
  folder: fc.constantFrom(...FOLDERS, 'none'),
  subtree: fc.constantFrom(...FOLDERS, 'none'),
  search: fc.constantFrom('shoe', 'strasse', 'straße', 'οδος', 'файл', '%_', '.y', 'CAFÉ', 'png'),
  has_location: fc.boolean(),
  bbox: fc.constantFrom(
    { west: 170, south: -10, east: -170, north: 10 },
    { west: -180, south: -90, east: 180, north: 90 },
    { west: 5, south: 44, east: 8, north: 46 },
    { west: 7, south: -90, east: 7, north: 90 },
  ),
  uploaders: fc.constantFrom(['one'], ['two', 'one'], ['nobody']),
};

/** At most four filters: with more, hardly any file matches. */
const asked = fc
  .shuffledSubarray(Object.entries(choices), { maxLength: 4 })
  .chain((some) => fc.record(Object.fromEntries(some) as typeof choices, { requiredKeys: [] }));

async function listAll(sort: FileSort, filters: LibraryFileFilters, limit: number) {
  const slugs: string[] = [];
  let after: string[] | null = null;
  do {
    const query = { project_id: projectId, sort, filters, limit, after };
    const page: Awaited<ReturnType<typeof listLibraryFiles>> = await listLibraryFiles(db, query);
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    slugs.push(...page.rows.map(({ file_slug }) => file_slug));
    after = page.next;
  } while (after !== null);
  return slugs;
}

it.each(['without', 'with'])(
  'library file lists match the model for all filters, sorts and page sizes, %s the indexes',
  async (indexes) => {
    if (indexes === 'with') {
      for (const name of Object.keys(LIBRARY_INDEXES)) await buildLibraryIndex(db, name);
    }
    const sorts = fc.constantFrom<FileSort>('uploaded', 'name', 'taken');
    await fc.assert(
      fc.asyncProperty(
        asked,
        sorts,
        fc.integer({ min: 1, max: 70 }),
        async (input, sort, limit) => {
          const { library_id, uploaders, ...rest } = input;
          const filters: LibraryFileFilters = {
            ...rest,
            ...(library_id && { library_id: library_id === 'named' ? libraryId : null }),
            ...(uploaders && { uploaders: uploaders.map((one) => Buffer.from(one)) }),
          };
          const expected = rows.filter((row) => fits(row, filters)).toSorted(ORDER[sort]);
          const found = await listAll(sort, filters, limit);
          expect(found).toEqual(expected.map(({ file_slug }) => file_slug));
        },
      ),
      { numRuns: RUNS },
    );
  },
);

it.each<FileSort>(['uploaded', 'name', 'taken'])(
  'all files are sorted by %s, ignoring case in every script',
  async (sort) => {
    const expected = rows.toSorted(ORDER[sort]).map(({ file_slug }) => file_slug);
    expect(await listAll(sort, {}, 7)).toEqual(expected);
  },
);
