/**
 * The cost of a page of a library with a million files: the time of the statement, its plan, and the number of rows
 * read. Fails if a plan scans the whole table. TINTYPE_BENCH_LIBRARY_FILES changes the number of files.
 */
import { createDatabase, type Database } from '../../runtime/db/client.ts';
import { insertLibrary } from '../../runtime/db/libraries.ts';
import {
  type FileSort,
  type LibraryFileFilters,
  listLibraryFiles,
} from '../../runtime/db/library-files.ts';
import { buildLibraryIndex, LIBRARY_INDEXES } from '../../runtime/db/library-indexes.ts';
import type { Tintype } from '../contract/support/tintype.ts';
import { explaining } from '../support/explaining.ts';
import { makeManyFiles } from '../support/many-files.ts';
import { id } from '../support/rows.ts';
import { type Figure, figure } from './figure.ts';

const COUNT = Number(process.env['TINTYPE_BENCH_LIBRARY_FILES'] ?? 1_000_000);
const LIMIT = 50;
const RUNS = 15;
const FILL_MS = 3_600_000;
const SUBJECT = Buffer.from('subject 7');

type Page = { name: string; sort?: FileSort; filters: LibraryFileFilters };

/**
 * Most files are in the default library. One in ten is in a named library with a tree of 1,000
 * folders.
 */
const pagesOf = (library_id: string): readonly Page[] => [
  { name: 'a library', filters: { library_id } },
  { name: 'the default library', filters: { library_id: null } },
  { name: 'a folder', filters: { library_id, folder: 'f7/g7' } },
  { name: 'a subtree of a tenth', filters: { library_id, subtree: 'f7' } },
  { name: 'a folder that is empty', filters: { library_id, subtree: 'none' } },
  { name: 'blocked ones', filters: { library_id, status: 'blocked' } },
  { name: 'by name', sort: 'name', filters: { library_id } },
  { name: 'by when taken', sort: 'taken', filters: { library_id: null } },
  { name: 'with a place', filters: { library_id: null, has_location: true } },
  {
    name: 'in a box of a thousandth',
    filters: { library_id: null, bbox: { west: 5, south: 45, east: 12, north: 50 } },
  },
  {
    name: 'in a box across the antimeridian',
    filters: { library_id: null, bbox: { west: 179, south: -5, east: -179, north: 5 } },
  },
  { name: 'of an uploader', filters: { uploaders: [SUBJECT] } },
  { name: 'of an uploader in a library', filters: { library_id, uploaders: [SUBJECT] } },
];

export async function measureLibraryFiles({ instance }: Tintype): Promise<Figure[]> {
  const limits = { queryTimeoutMs: FILL_MS, idleTransactionTimeoutMs: FILL_MS };
  const db = createDatabase({ url: instance.database_url, ...limits });
  try {
    const [project] = await db.query<{ project_id: string }>('select project_id from projects');
    if (project === undefined) throw new Error('no project');
    const library_id = await fill(db, project.project_id);
    const figures: Figure[] = [];
    for (const page of pagesOf(library_id)) {
      figures.push(...(await measurePage(db, { ...project, page })));
    }
    return figures;
  } finally {
    await db.close();
  }
}

async function fill(db: Database, project_id: string): Promise<string> {
  await makeManyFiles(db, { project_id, count: COUNT });
  const library_id = id('lib');
  const library = { library_id, project_id, library_slug: 'bench', name: 'Bench' };
  await insertLibrary(db, { ...library, allowed_origins: [] });
  await db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica');
    await tx.query(
      `update files set library_id = case when position % 10 = 0 then $2 end,
         folder = 'f' || position / 10 % 10 || '/g' || position / 100 % 100,
         original_filename = md5(position::text) || '.jpg',
         taken_at = case when position % 3 > 0 then created_at - position % 1000 * interval '1 day' end,
         latitude = case when position % 2 = 0 then (position * 7919 % 18000) / 100.0 - 90 end,
         longitude = case when position % 2 = 0 then (position * 104729 % 36000) / 100.0 - 180 end,
         uploader = case when position % 20 = 0 then convert_to('subject ' || position % 1000 / 20, 'UTF8') end
       where project_id = $1`,
      [project_id, library_id],
    );
  });
  const started = performance.now();
  for (const name of Object.keys(LIBRARY_INDEXES)) await buildLibraryIndex(db, name);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stderr.write(`indexes of ${COUNT} files after ${seconds} s\n`);
  await db.query('vacuum (analyze) files');
  return library_id;
}

async function measurePage(
  db: Database,
  { project_id, page }: { project_id: string; page: Page },
): Promise<Figure[]> {
  const { name, sort = 'uploaded', filters } = page;
  const ask = (through: Database) =>
    listLibraryFiles(through, { project_id, sort, filters, limit: LIMIT, after: null });
  const { db: through, explained } = explaining(db, ['files']);
  await ask(through);
  const [work] = explained;
  if (work === undefined) throw new Error(`${name} was not explained`);
  if (work.scans.some((scan) => scan.startsWith('Seq Scan'))) {
    throw new Error(`${name} reads all files: ${work.scans.join(', ')}`);
  }
  process.stderr.write(`${name}: ${work.scans.join(', ')}\n`);
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const started = performance.now();
    await ask(db);
    times.push(performance.now() - started);
  }
  return [
    figure(`50 of ${COUNT} files: ${name}`, 'ms', times),
    figure('… rows read', '', [work.rows_read]),
  ];
}
