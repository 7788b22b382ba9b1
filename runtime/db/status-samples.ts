// Table status_samples: whether each service worked, minute by minute. Spec: Public, status.
import type { Queryable } from './client.ts';
import { deleteRows } from './delete-rows.ts';

export type StatusSampleRow = {
  service: string;
  sampled_at: Date;
  ok: boolean;
  duration_ms: number;
};

/** A second sample of the same minute is ignored. */
export async function insertStatusSample(db: Queryable, row: StatusSampleRow): Promise<void> {
  await db.query(
    `insert into status_samples (service, sampled_at, ok, duration_ms) values ($1, $2, $3, $4)
     on conflict (service, sampled_at) do nothing`,
    [row.service, row.sampled_at, row.ok, row.duration_ms],
  );
}

/** The newest minute with samples, and their number; undefined if there are none. */
export async function findNewestSamples(
  db: Queryable,
): Promise<{ sampled_at: Date; count: number } | undefined> {
  const [newest] = await db.query<{ sampled_at: Date; count: number }>(
    `select sampled_at, count(*)::integer as count from status_samples
     where sampled_at = (select max(sampled_at) from status_samples) group by sampled_at`,
  );
  return newest;
}

/** By service and time, oldest first. */
export async function listStatusSamples(db: Queryable, hours: number): Promise<StatusSampleRow[]> {
  return db.query<StatusSampleRow>(
    `select * from status_samples where sampled_at > now() - make_interval(hours => $1)
     order by service, sampled_at`,
    [hours],
  );
}

/** Of one service, newest first. */
export async function listNewestSamples(
  db: Queryable,
  { service, limit }: { service: string; limit: number },
): Promise<StatusSampleRow[]> {
  return db.query<StatusSampleRow>(
    'select * from status_samples where service = $1 order by sampled_at desc limit $2',
    [service, limit],
  );
}

/** Returns how many were deleted. */
export function deleteOldStatusSamples(db: Queryable, before: Date): Promise<number> {
  return deleteRows(db, { table: 'status_samples', condition: 'sampled_at < $1', value: before });
}
