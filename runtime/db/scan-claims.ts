// Table scanner_checks, as the scanner works through it. A scan is claimed for a time, with a number; a result that
// arrives after another claim writes nothing. Spec: Staff, checks; Other state sets.
import type { CheckStatus } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';
import { countWaiting, type Waiting } from './count-waiting.ts';
import type { FileRow } from './files.ts';
import type { CheckRow } from './scanner-checks.ts';
import { timeIndexHint } from './time-index-hint.ts';

export type NewCheck = { check_id: string } & Pick<FileRow, 'project_id' | 'file_id' | 'revision'>;

/** Call it in the transaction that publishes the revision. */
export async function insertCheck(
  tx: Transaction,
  { check_id, project_id, file_id, revision }: NewCheck,
): Promise<void> {
  await tx.query(
    `insert into scanner_checks (check_id, project_id, file_id, revision) values ($1, $2, $3, $4)
     on conflict (file_id, revision) do nothing`,
    [check_id, project_id, file_id, revision],
  );
}

const WAITS = `status in ('queued', 'scanning')`;
const IS_FREE = `coalesce(lease_until, '-infinity') <= now()`;

export type ClaimedCheck = NewCheck & {
  /** The number of this scan, from 1. */
  attempts: number;
  /** How many earlier scans were refused. */
  refusals: number;
};

/**
 * Claims checks that nobody is scanning: equally from every project, drawn at random if more
 * projects wait than the limit allows, and the oldest first within a project. After its lease, a
 * scan whose process was killed is claimed again. The chosen rows are locked by id: repeating the
 * condition on the status would read everything that waits.
 */
export async function claimChecks(
  db: Queryable,
  { limit, lease_seconds }: { limit: number; lease_seconds: number },
): Promise<ClaimedCheck[]> {
  return db.query(
    `with recursive waiting as (
       (select project_id from scanner_checks where ${WAITS} order by project_id limit 1)
       union all
       select (select c.project_id from scanner_checks c
         where ${WAITS} and c.project_id > w.project_id order by c.project_id limit 1)
       from waiting w where w.project_id is not null
     ), drawn as materialized (
       select project_id from waiting w where exists (
         select from scanner_checks c where c.project_id = w.project_id and ${WAITS} and ${IS_FREE})
       order by random() limit $1
     ), turns as materialized (
       select due.check_id, row_number() over (partition by project_id order by due.created_at) as turn
       from drawn cross join lateral (
         select c.check_id, c.created_at from scanner_checks c
         where c.project_id = drawn.project_id and ${WAITS} and ${IS_FREE} order by c.created_at limit $1
       ) due
     ), due as (
       select check_id from scanner_checks
       where check_id in (select check_id from turns order by turn limit $1) and scanned_at is null and ${IS_FREE}
       for update skip locked
     )
     update scanner_checks set status = 'scanning', attempts = attempts + 1, updated_at = now(),
       lease_until = now() + make_interval(secs => $2)
     from due where scanner_checks.check_id = due.check_id
     returning scanner_checks.check_id, project_id, file_id, revision, attempts, refusals`,
    [limit, lease_seconds],
  );
}

type Scan = Pick<ClaimedCheck, 'check_id' | 'attempts'>;

const IS_OURS = `check_id = $1 and attempts = $2 and status = 'scanning'`;

export type Scanned = Scan & {
  status: Exclude<CheckStatus, 'queued' | 'scanning'>;
  flags: readonly string[];
  scores: Readonly<Record<string, number>>;
};

/**
 * The end of a scan. A flagged check that staff approved before is approved at once. Undefined if
 * another scan has begun or ended since.
 */
export async function updateCheckScanned(
  tx: Transaction,
  { check_id, attempts, status, flags, scores }: Scanned,
): Promise<Pick<CheckRow, 'review'> | undefined> {
  const [row] = await tx.query<Pick<CheckRow, 'review'>>(
    `update scanner_checks set status = $3, flags = $4, scores = $5, scanned_at = now(),
       updated_at = now(), lease_until = null,
       review = case when $3 = 'flagged' and exists (select from check_reviews where check_id = $1)
         then 'approved' else 'unreviewed' end
     where ${IS_OURS} returning review`,
    [check_id, attempts, status, flags, JSON.stringify(scores)],
  );
  return row;
}

export type CheckDeferral = Scan & {
  /** Whether the scanner refused this picture; otherwise something is unavailable. */
  is_refused: boolean;
  delay_seconds: number;
  /** Checks created longer ago than this have waited long enough: they fail here. */
  waits_seconds_max: number;
};

/**
 * Leaves it to a later scan, or fails it if it has waited too long. Undefined if another scan has
 * the claim.
 */
export async function updateCheckDeferred(
  db: Queryable,
  { check_id, attempts, is_refused, delay_seconds, waits_seconds_max }: CheckDeferral,
): Promise<'queued' | 'failed' | undefined> {
  const [row] = await db.query<{ status: 'queued' | 'failed' }>(
    `update scanner_checks set updated_at = now(),
       status = case when is_late then 'failed' else 'queued' end,
       scanned_at = case when is_late then now() end, refusals = refusals + $5::int,
       lease_until = case when is_late then null else now() + make_interval(secs => $3) end
     from (select created_at < now() - make_interval(secs => $4) as is_late
       from scanner_checks where check_id = $1) age
     where ${IS_OURS} returning status`,
    [check_id, attempts, delay_seconds, waits_seconds_max, is_refused ? 1 : 0],
  );
  return row?.status;
}

/** How many revisions wait to be scanned, and since when. */
export const countChecksWaiting = (db: Queryable) => countChecks(db, WAITS);

/** How many flagged revisions wait for a review, and since when they have existed. */
export const countChecksUnreviewed = (db: Queryable) =>
  countChecks(db, "status = 'flagged' and review = 'unreviewed'");

function countChecks(db: Queryable, which: string): Promise<Waiting> {
  return countWaiting(
    db,
    `select created_at as since from scanner_checks where ${which} and ${timeIndexHint('created_at')} order by created_at limit $1`,
  );
}
