// Table usage_hours: the sums of an hour's batches, a pure function of them. Spec: Metering; Usage record.
import type { Queryable, Transaction } from './client.ts';

export type UsageHourRow = {
  project_id: string;
  window_start: Date;
  requests: number;
  bytes: number;
  transforms: number;
  credits: number;
  computed_at: Date;
};

/** Computes these hours again from all their batches; returns how many rows are new or changed. */
export async function foldUsageHours(db: Queryable, hours: readonly Date[]): Promise<number> {
  const rows = await db.query(
    `insert into usage_hours as h (project_id, window_start, requests, bytes, transforms, credits)
     select project_id, window_start, sum(requests), sum(bytes), sum(transforms), sum(credits)
     from usage_batch_rows where window_start = any($1::timestamptz[])
     group by project_id, window_start
     on conflict (project_id, window_start) do update set requests = excluded.requests,
       bytes = excluded.bytes, transforms = excluded.transforms, credits = excluded.credits, computed_at = now()
     where (h.requests, h.bytes, h.transforms, h.credits)
       is distinct from (excluded.requests, excluded.bytes, excluded.transforms, excluded.credits)
     returning project_id`,
    [hours],
  );
  return rows.length;
}

/** Hours of [from, to), oldest first; of these projects. */
export async function listUsageHours(
  db: Queryable,
  { project_ids, from, to }: { project_ids: readonly string[]; from: Date; to: Date },
): Promise<UsageHourRow[]> {
  return db.query(
    `select * from usage_hours where project_id = any($1) and window_start >= $2 and window_start < $3
     order by project_id, window_start`,
    [project_ids, from, to],
  );
}

/**
 * Projects with usage in [from, to), in order of id, after one: the daily charge goes through them.
 */
export async function listProjectsWithUsage(
  db: Queryable,
  query: { from: Date; to: Date; after: string; limit: number },
): Promise<{ project_id: string; organization_id: string }[]> {
  return db.query(
    `select p.project_id, p.organization_id from projects p
     where p.project_id > $3 and exists (
       select from usage_hours h
       where h.project_id = p.project_id and h.window_start >= $1 and h.window_start < $2)
     order by p.project_id limit $4`,
    [query.from, query.to, query.after, query.limit],
  );
}

/** The `at` of those ranges [from, to) in which any project has usage, summed or not. */
export async function listWithUsage(
  db: Queryable,
  asked: readonly { at: Date; from: Date; to: Date }[],
): Promise<Date[]> {
  const rows = await db.query<{ at: Date }>(
    `select at from unnest($1::timestamptz[], $2::timestamptz[], $3::timestamptz[]) asked (at, starts, ends)
     where exists (select from usage_hours where window_start >= starts and window_start < ends)
       or exists (select from usage_batch_rows where window_start >= starts and window_start < ends)
     order by at desc`,
    [asked.map(({ at }) => at), asked.map(({ from }) => from), asked.map(({ to }) => to)],
  );
  return rows.map(({ at }) => at);
}

/**
 * Locked while hours are folded, until the transaction ends: an older sum never overwrites a newer
 * one.
 */
export async function lockUsageHours(tx: Transaction): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtext('tintype.usage_hours'))`);
}
