// Tables scanner_checks and check_reviews: what the scanner found in each revision of a file, and what staff decided.
// Every write requires the lock on the file's project. Spec: Staff, checks.
import { inChunks } from '../core/in-chunks.ts';
import type { CheckStatus, ReviewDecision, ReviewValue } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';
import type { FileRow } from './files.ts';
import { type FilteredList, listFiltered } from './filtered-list.ts';
import type { Page, PageQuery } from './keyset.ts';
import { onlyRow } from './rows.ts';

export type CheckRow = {
  check_id: string;
  project_id: string;
  project_slug: string;
  file_id: string;
  file_slug: string;
  revision: number;
  status: CheckStatus;
  review: ReviewValue;
  flags: string[];
  scores: Record<string, number>;
  scanned_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

export type ReviewRow = {
  review_id: string;
  check_id: string;
  decision: ReviewDecision;
  note: string | null;
  /** Subject of the reviewer. */
  reviewer: string;
  created_at: Date;
};

const SELECT = `select c.*, p.project_slug, f.file_slug
  from scanner_checks c join projects p using (project_id) join files f using (file_id)`;

export async function findCheck(db: Queryable, checkId: string): Promise<CheckRow | undefined> {
  return (await db.query<CheckRow>(`${SELECT} where c.check_id = $1`, [checkId]))[0];
}

/** Null: any value. */
export type CheckFilters = {
  status: CheckStatus | null;
  review: ReviewValue | null;
  flag: string | null;
  project_slug: string | null;
};

/** Newest first. */
export function listChecks(
  db: Queryable,
  { limit, after, ...asked }: PageQuery & CheckFilters,
): Promise<Page<CheckRow>> {
  return listFiltered(db, LIST, { limit, after, asked });
}

const LIST: FilteredList<CheckRow, keyof CheckFilters> = {
  select: SELECT,
  conditions: {
    status: (value) => `c.status = ${value}`,
    review: (value) => `c.review = ${value}`,
    flag: (value) => `${value} = any(c.flags)`,
    project_slug: (value) =>
      `c.project_id = (select project_id from projects where project_slug = ${value})`,
  },
  order: ['c.created_at', 'c.check_id'],
  idOf: (row) => row.check_id,
};

/** Newest first. */
export async function listReviews(db: Queryable, checkId: string): Promise<ReviewRow[]> {
  return db.query<ReviewRow>(
    `select * from check_reviews where check_id = $1 order by created_at desc, review_id desc`,
    [checkId],
  );
}

export type NewReview = Omit<ReviewRow, 'created_at'>;

/**
 * Writes the decision, which becomes the review of a flagged check; a waiting check gets it once it
 * is flagged.
 */
export async function insertReview(
  tx: Transaction,
  { review_id, check_id, decision, note, reviewer }: NewReview,
): Promise<CheckRow> {
  await tx.query(
    `with flagged as (
       update scanner_checks set review = $3, updated_at = now()
       where check_id = $2 and status = 'flagged'
     )
     insert into check_reviews (review_id, check_id, decision, note, reviewer)
     values ($1, $2, $3, $4, $5)`,
    [review_id, check_id, decision, note, reviewer],
  );
  return onlyRow(await findCheck(tx, check_id));
}

/**
 * The flagged checks of a file's revisions that are not approved; and the current revision's check
 * while it waits to be scanned, once.
 */
export async function listChecksToApprove(tx: Transaction, fileId: string): Promise<string[]> {
  const rows = await tx.query<{ check_id: string }>(
    `select c.check_id from scanner_checks c join files f using (file_id)
     where c.file_id = $1 and (c.status = 'flagged' and c.review <> 'approved'
       or c.status in ('queued', 'scanning') and c.revision = f.revision
         and not exists (select from check_reviews r where r.check_id = c.check_id))
     order by c.revision`,
    [fileId],
  );
  return rows.map((row) => row.check_id);
}

/**
 * Checks `c` under the slug of file `f`, from the one that blocked it on, including those of files
 * deleted since: the rule of `withoutRejected`, for one file.
 */
const SINCE_BLOCK = `files o join scanner_checks c using (file_id)
  where o.project_id = f.project_id and o.file_slug = f.file_slug and c.created_at >= coalesce(
    (select min(b.created_at) from files w join scanner_checks b using (file_id)
     where w.project_id = f.project_id and w.file_slug = f.file_slug and b.scanned_at = f.blocked_at),
    '-infinity')`;

type Blocked = Pick<FileRow, 'file_id' | 'status' | 'file_slug' | 'blocked_at'>;

/** Per statement. */
const BLOCKS_AT_ONCE = 10_000;

/**
 * Files of a project that the scanner blocked, including deleted ones, and that staff did not
 * reject: neither through the blocking check, nor through a later one under the slug, even if the
 * file was deleted and uploaded again meanwhile. The checks of the slugs are read separately, each
 * once: in a join, a planner without statistics would read all of them for each file.
 */
export async function listUnreviewedBlocks(db: Queryable, projectId: string): Promise<Blocked[]> {
  const blocked = await db.query<Blocked>(
    `select file_id, status, file_slug, blocked_at from files
     where project_id = $1 and blocked_by = 'scanner' order by file_id`,
    [projectId],
  );
  const unreviewed: Blocked[] = [];
  for (const part of inChunks(blocked, BLOCKS_AT_ONCE)) {
    unreviewed.push(...(await withoutRejected(db, { project_id: projectId, blocked: part })));
  }
  return unreviewed;
}

type Scans = { file_slug: string; scanned_at: Date | null; is_after: boolean };

async function withoutRejected(
  db: Queryable,
  { project_id, blocked }: { project_id: string; blocked: readonly Blocked[] },
): Promise<Blocked[]> {
  const scans = await db.query<Scans>(
    `select file_slug, scanned_at, began_at > rejected_at as is_after from (
       select f.file_slug, c.scanned_at, min(c.created_at) as began_at,
         max(max(c.created_at) filter (where c.review = 'rejected')) over (partition by f.file_slug) as rejected_at
       from files f join scanner_checks c using (file_id)
       where f.project_id = $1 and f.file_slug = any($2) group by f.file_slug, c.scanned_at
     ) scans where rejected_at is not null`,
    [project_id, [...new Set(blocked.map(({ file_slug }) => file_slug))]],
  );
  const scanOf = (slug: string, at: Date | null) => `${slug} ${at?.getTime()}`;
  const rejected = new Set(scans.map(({ file_slug }) => file_slug));
  const later = new Set(
    scans.filter((scan) => scan.is_after).map((scan) => scanOf(scan.file_slug, scan.scanned_at)),
  );
  return blocked.filter(
    ({ file_slug, blocked_at }) =>
      !rejected.has(file_slug) || later.has(scanOf(file_slug, blocked_at)),
  );
}

/**
 * The last file of a slug, deleted or not, if the scanner blocked it and nothing stands against it
 * any more: everything flagged since the block is approved, and its revision is clear or approved.
 * Otherwise undefined.
 */
export async function findApprovedBlock(
  tx: Transaction,
  { project_id, file_slug }: Pick<FileRow, 'project_id' | 'file_slug'>,
): Promise<Pick<FileRow, 'file_id' | 'status'> | undefined> {
  const [file] = await tx.query<Pick<FileRow, 'file_id' | 'status'>>(
    `select f.file_id, f.status from (select * from files where project_id = $1 and file_slug = $2
       order by created_at desc, file_id desc limit 1) f
     join scanner_checks last on last.file_id = f.file_id and last.revision = f.revision
     where f.blocked_by = 'scanner' and (last.status = 'clear' or last.review = 'approved')
       and (select bool_and(c.review = 'approved') from ${SINCE_BLOCK} and c.status = 'flagged')`,
    [project_id, file_slug],
  );
  return file;
}

/**
 * For deleted files, so that the next files of their slugs do not start blocked. Returns the
 * removed blocks.
 */
export async function updateBlocksCleared(
  tx: Transaction,
  fileIds: readonly string[],
): Promise<Pick<FileRow, 'project_id' | 'file_id' | 'blocked_by' | 'blocked_reason'>[]> {
  return tx.query(
    `update files f set blocked_by = null, blocked_reason = null, blocked_at = null, updated_at = now()
     from files was
     where f.file_id = any($1) and f.status = 'deleted' and f.blocked_by is not null
       and was.file_id = f.file_id
     returning f.project_id, f.file_id, was.blocked_by, was.blocked_reason`,
    [fileIds],
  );
}
