// Tables scanner_checks and check_reviews: what the scanner found in each revision of a file, and what staff made of
// it. Every write is under the lock of the file's project. Spec: Staff, checks.
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
  /** Subject of whoever decided. */
  reviewer: string;
  created_at: Date;
};

const SELECT = `select c.*, p.project_slug, f.file_slug
  from scanner_checks c join projects p using (project_id) join files f using (file_id)`;

export async function findCheck(db: Queryable, checkId: string): Promise<CheckRow | undefined> {
  return (await db.query<CheckRow>(`${SELECT} where c.check_id = $1`, [checkId]))[0];
}

/** Null: whatever it is. */
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

/** Writes the decision, and that it is the last one of a flagged check; one that waits has it once it is flagged. */
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
 * The flagged checks of a file, of whatever revision, that are not approved; and that of its revision while it waits to
 * be scanned, once.
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

/** Checks `c` under the slug of a file `f` from the one on that blocked it, also of files that were deleted meanwhile. */
const SINCE_BLOCK = `files o join scanner_checks c using (file_id)
  where o.project_id = f.project_id and o.file_slug = f.file_slug and c.created_at >= coalesce(
    (select min(b.created_at) from files w join scanner_checks b using (file_id)
     where w.project_id = f.project_id and w.file_slug = f.file_slug and b.scanned_at = f.blocked_at),
    '-infinity')`;

/**
 * Files of a project that the scanner blocked, deleted ones too, and that staff did not reject: neither by the check
 * that blocked them, nor by one of what came later under their slug, also where they were deleted and uploaded again
 * meanwhile. Slugs with a rejection are found first, by themselves: joined to the files, a planner that does not know
 * yet how many there are looks for each of them among all.
 */
export async function listUnreviewedBlocks(
  db: Queryable,
  projectId: string,
): Promise<Pick<FileRow, 'file_id' | 'status'>[]> {
  return db.query(
    `select f.file_id, f.status from files f
     where f.project_id = $1 and f.blocked_by = 'scanner'
       and (f.file_slug not in (select r.file_slug from scanner_checks c join files r using (file_id)
           where c.project_id = $1 and c.review = 'rejected')
         or not exists (select from ${SINCE_BLOCK} and c.review = 'rejected'))
     order by f.file_id`,
    [projectId],
  );
}

/**
 * The last file of a slug, deleted or not, where the scanner blocked it and nothing is left to say against it: what was
 * flagged since the block is approved, and its revision is clear, or approved too. Undefined where there is none.
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

/** Of deleted files, so that the next ones of their slugs do not start blocked. Returns what was forgotten. */
export async function updateBlocksForgotten(
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
