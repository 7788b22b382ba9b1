// Table purges: what the CDN must forget, written in the transaction of the change. Spec: Caching and response headers.
// Each purge is two rows: one at once, and one when no earlier lookup or render can refill an edge any more.

import type { Queryable, Transaction } from './client.ts';
import { countWaiting, type Waiting } from './count-waiting.ts';
import { deleteRowsOlderThan } from './delete-rows.ts';
import { timeIndexHint } from './time-index-hint.ts';

export type PurgeRow = {
  purge_id: number;
  project_id: string;
  project_slug: string;
  /** Null: everything of the project. */
  file_slug: string | null;
  /** The file that had the slug; also null if an older version wrote the row. */
  file_id: string | null;
  /** The project's current domains, and those that the change took away. */
  custom_domains: string[];
  reason: string;
  attempt: number;
};

export type NewPurge = {
  project_id: string;
  /** Null: everything of the project. */
  files: readonly { file_id: string; file_slug: string }[] | null;
  reason: string;
  /** Custom domains that the change takes away from the project. */
  left_domains?: string[] | undefined;
  /**
   * For how long an edge can still be refilled with the old content: lookup lifetime plus render
   * deadline.
   */
  repeat_after_seconds: number;
};

/**
 * The second row counts from the current time: the transaction may have begun long ago, and takes
 * effect when it ends.
 */
export async function insertPurges(tx: Transaction, purge: NewPurge): Promise<void> {
  await tx.query(
    `insert into purges (project_id, file_slug, file_id, reason, left_domains, run_after)
     select $1, file_slug, file_id, $4, $6, due
     from unnest($2::text[], $3::text[]) purged (file_slug, file_id),
       unnest(array[date_trunc('milliseconds', now()), clock_timestamp() + make_interval(secs => $5)]) due`,
    [
      purge.project_id,
      purge.files?.map(({ file_slug }) => file_slug) ?? [null],
      purge.files?.map(({ file_id }) => file_id) ?? [null],
      purge.reason,
      purge.repeat_after_seconds,
      purge.left_domains ?? null,
    ],
  );
}

/**
 * Due purges, each claimed for the lease. One project per ten purges of the limit, drawn at random
 * if there are more, gets an equal share for its oldest; the rest goes to the oldest of all. Few
 * projects, as a cache that purges whole hosts takes a call per project. One index step finds each
 * project, however much it has waiting.
 */
export async function claimPurges(
  db: Queryable,
  { limit, lease_seconds }: { limit: number; lease_seconds: number },
): Promise<PurgeRow[]> {
  return db.query(
    `with recursive waiting as (
       (select project_id from purges where sent_at is null order by project_id limit 1)
       union all
       select (select p.project_id from purges p
         where p.sent_at is null and p.project_id > w.project_id order by p.project_id limit 1)
       from waiting w where w.project_id is not null
     ), drawn as materialized (
       select project_id from waiting w where exists (select from purges p
         where p.project_id = w.project_id and p.sent_at is null and p.run_after <= now())
       order by random() limit greatest(1, $1::int / 10)
     ), firsts as materialized (
       select f.purge_id from drawn cross join lateral (
         select purge_id from purges p
         where p.project_id = drawn.project_id and p.sent_at is null and p.run_after <= now()
         order by p.run_after limit $1::int / (select count(*) from drawn) for update skip locked
       ) f
     ), others as materialized (
       select purge_id from purges
       where sent_at is null and ${timeIndexHint('run_after')} and run_after <= now()
         and purge_id not in (select purge_id from firsts)
       order by run_after limit $1::int - (select count(*) from firsts) for update skip locked
     ), due as (
       select purge_id from firsts union all select purge_id from others
     ), claimed as (
       update purges set attempt = attempt + 1, run_after = now() + make_interval(secs => $2)
       from due where purges.purge_id = due.purge_id
       returning purges.purge_id, project_id, file_slug, file_id, reason, attempt, left_domains
     )
     select purge_id, claimed.project_id, file_slug, file_id, reason, attempt, p.project_slug,
       array(select domain from project_domains d where d.project_id = p.project_id
         union select unnest(left_domains) order by 1) as custom_domains
     from claimed join projects p on p.project_id = claimed.project_id order by purge_id`,
    [limit, lease_seconds],
  );
}

export async function updatePurgesSent(db: Queryable, purgeIds: readonly number[]): Promise<void> {
  await db.query(
    'update purges set sent_at = now(), last_error = null where purge_id = any($1::bigint[])',
    [purgeIds],
  );
}

/** Gives back claimed purges that may or may not have been sent: the attempt does not count. */
export async function releasePurges(
  db: Queryable,
  claimed: readonly Pick<PurgeRow, 'purge_id' | 'attempt'>[],
): Promise<void> {
  await db.query(
    `update purges set run_after = now(), attempt = purges.attempt - 1
     from unnest($1::bigint[], $2::int[]) ours (purge_id, attempt)
     where purges.purge_id = ours.purge_id and purges.attempt = ours.attempt and sent_at is null`,
    [claimed.map(({ purge_id }) => purge_id), claimed.map(({ attempt }) => attempt)],
  );
}

export type FailedPurge = { purge_id: number; error: string; delay_seconds: number };

/** They stay due: each is sent again after its delay. */
export async function updatePurgesFailed(
  db: Queryable,
  failed: readonly FailedPurge[],
): Promise<void> {
  await db.query(
    `update purges set last_error = failed.error, run_after = now() + make_interval(secs => failed.delay_seconds)
     from unnest($1::bigint[], $2::text[], $3::float8[]) failed (purge_id, error, delay_seconds)
     where purges.purge_id = failed.purge_id and sent_at is null`,
    [
      failed.map(({ purge_id }) => purge_id),
      failed.map(({ error }) => error),
      failed.map(({ delay_seconds }) => delay_seconds),
    ],
  );
}

/**
 * Purges that are due for the first time, and those that were refused; the age counts from the
 * change behind the oldest.
 */
export function countPurgesWaiting(db: Queryable): Promise<Waiting> {
  return countWaiting(
    db,
    `(select created_at as since from purges
      where sent_at is null and attempt = 0 and ${timeIndexHint('run_after')} and run_after <= now()
      order by run_after limit $1)
     union all
     (select created_at from purges
      where sent_at is null and attempt > 0 and ${timeIndexHint('run_after')} order by run_after limit $1)`,
  );
}

/** Deletes older sent purges; returns how many. */
export function deleteOldPurges(db: Queryable, ageSeconds: number): Promise<number> {
  return deleteRowsOlderThan(db, { table: 'purges', column: 'sent_at' }, ageSeconds);
}
