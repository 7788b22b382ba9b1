// Lists of table files, newest first, read by position. However large the project and whatever the filter, a page reads
// at most three rows for each that it returns, and fifty more. Spec: Files; Conventions.
import { type FileStatus, fileStatuses } from '../core/states.ts';
import type { Queryable } from './client.ts';
import { CURRENT_REVISION, LISTED_COLUMNS, type ListedFile } from './files.ts';
import { type Page, type PageQuery, pageBy } from './keyset.ts';
import { prepared } from './prepared-statements.ts';

export type FileListQuery = PageQuery & {
  project_id: string;
  /** Null: every file that is not deleted. */
  status: FileStatus | null;
  /** A prefix of the slug; null: any. */
  q: string | null;
};

export async function listFiles(db: Queryable, query: FileListQuery): Promise<Page<ListedFile>> {
  const { project_id, status, q, limit, after } = query;
  const before = after?.[0] ?? LAST_POSITION;
  const slice = { project_id, status, before, count: limit + 1 };
  const rows =
    q === null
      ? await listInOrder(db, slice)
      : ((await listIfFew(db, { ...slice, q })) ?? (await listByPrefix(db, { ...slice, q })));
  return pageBy(rows, limit, (row) => [String(row.position)]);
}

/** Greater than every position. */
const LAST_POSITION = '9223372036854775807';

type Slice = { project_id: string; status: FileStatus | null; before: string; count: number };

async function listInOrder(
  db: Queryable,
  { project_id, status, before, count }: Slice,
): Promise<ListedFile[]> {
  return status === null
    ? db.query(LIVE_IN_ORDER, [project_id, before, count])
    : db.query(OF_STATUS_IN_ORDER, [project_id, before, count, status]);
}

const inOrder = (state: string) =>
  prepared(`select ${LISTED_COLUMNS} from (
       select * from files where project_id = $1 and ${state} and position < $2
       order by position desc limit $3
     ) f ${CURRENT_REVISION} order by f.position desc`);

// Two statements, so that each condition matches its partial index exactly.
const LIVE_IN_ORDER = inOrder(`status <> 'deleted'`);
const OF_STATUS_IN_ORDER = inOrder('status = $4');

/** A prefix of more slugs than this is searched on the shelves. */
const FEW = 5;

/**
 * For a slug that is typed out, or nearly: reads and sorts all files with the prefix. Undefined if
 * there are more than FEW. The query follows an index's order; otherwise it would read all files
 * that ever had one slug for these few.
 */
async function listIfFew(
  db: Queryable,
  { project_id, status, q, before, count }: Slice & { q: string },
): Promise<ListedFile[] | undefined> {
  const rows = await db.query<ListedFile>(
    `select ${LISTED_COLUMNS} from (
       select * from files where project_id = $1 and file_slug >= $2 and file_slug < $2 || '~'
       order by file_slug, created_at desc limit $3
     ) f ${CURRENT_REVISION}`,
    [project_id, q, FEW + 1],
  );
  if (rows.length > FEW) return undefined;
  const isListed = (row: ListedFile) =>
    BigInt(row.position) < BigInt(before) && (status ? [status] : LIVE).includes(row.status);
  return rows
    .filter(isListed)
    .toSorted((a, b) => b.position - a.position)
    .slice(0, count);
}

const SHELF_BITS = 11;
const SLOT_BITS = 5;

/** The expressions of the indexes files_on_shelves and files_in_slots. */
const keyOf = (bits: number) =>
  `f.project_id || '/' || f.status || '/' || (f.position >> ${bits})::text || '/' || f.file_slug`;

/** Slugs contain only characters before `~`, so this range holds all slugs that begin with $3. */
function beginsAt(bits: number, number: string): string {
  const prefix = `$1 || '/' || state || '/' || ${number}::text || '/' || $3`;
  return `${keyOf(bits)} >= ${prefix} and ${keyOf(bits)} < ${prefix} || '~'`;
}

const LIVE: readonly FileStatus[] = fileStatuses.filter((status) => status !== 'deleted');

/**
 * From the newest shelf to the oldest: one lookup finds out whether the prefix is on the shelf, and
 * if so its slots are read, until the page is full. A lateral limit and a series only allow nested
 * loops, which return rows in the order of their outer side, so nothing behind the page is read. No
 * slot holds more rows than its limit, which is a hint for the planner.
 */
async function listByPrefix(
  db: Queryable,
  { project_id, status, q, before, count }: Slice & { q: string },
): Promise<ListedFile[]> {
  return db.query<ListedFile>(
    `select ${LISTED_COLUMNS} from (
       select f.* from (
         select least($4::bigint - 1, coalesce((select max(position) from files where project_id = $1), 0)) as position
         offset 0
       ) newest
       cross join lateral generate_series(newest.position >> ${SHELF_BITS}, 0, -1) shelf
       cross join lateral (
         select from unnest($2::text[]) state cross join lateral (
           select from files f
           where ${beginsAt(SHELF_BITS, 'shelf')} order by ${keyOf(SHELF_BITS)} limit 1
         ) first limit 1
       ) found
       cross join lateral generate_series(
         least(newest.position >> ${SLOT_BITS}, ((shelf + 1) << ${SHELF_BITS - SLOT_BITS}) - 1),
         shelf << ${SHELF_BITS - SLOT_BITS}, -1) slot
       cross join lateral (
         select f.* from unnest($2::text[]) state cross join lateral (
           select * from files f where ${beginsAt(SLOT_BITS, 'slot')}
           order by ${keyOf(SLOT_BITS)} limit ${2 ** SLOT_BITS}
         ) f where f.position <= newest.position order by f.position desc
       ) f
       limit $5
     ) f ${CURRENT_REVISION} order by f.position desc`,
    [project_id, status === null ? LIVE : [status], q, before, count],
  );
}
