// Table render_leases: at most one render of a derived image at a time, in the whole installation. A lease expires by
// time, and whoever takes one deletes two that expired long ago. Spec: Delivery host.
import type { Queryable } from './client.ts';

/** `mine`: nobody else renders the image now. `stored`: somebody just stored it. */
export type LeaseState = 'mine' | 'held' | 'stored';

const ENDED_SECONDS = 60;

export async function acquireRenderLease(
  db: Queryable,
  lease: { derived_key: string; lease_id: string; lease_seconds: number },
): Promise<LeaseState> {
  const [row] = await db.query<{ state: LeaseState }>(
    `with ended as (
       select derived_key from render_leases
       where expires_at < now() - make_interval(secs => ${ENDED_SECONDS}) and derived_key <> $1
       order by expires_at limit 2 for update skip locked
     ), cleared as (
       delete from render_leases where derived_key in (select derived_key from ended)
     ), taken as (
       insert into render_leases as l (derived_key, lease_id, expires_at)
       values ($1, $2, now() + make_interval(secs => $3))
       on conflict (derived_key) do update
         set lease_id = excluded.lease_id, expires_at = excluded.expires_at, stored_at = null
         where l.expires_at < now()
       returning 'mine' as state
     )
     select state from taken
     union all
     select case when stored_at is null then 'held' else 'stored' end from render_leases
     where derived_key = $1 and not exists (select from taken)`,
    [lease.derived_key, lease.lease_id, lease.lease_seconds],
  );
  // A row that appeared between this query's snapshot and its insert is somebody's fresh lease.
  return row?.state ?? 'held';
}

/**
 * The image can now be read from the store; for a while, others that ask for the lease learn so.
 */
export async function updateRenderLeaseStored(
  db: Queryable,
  { derived_key, told_seconds }: { derived_key: string; told_seconds: number },
): Promise<void> {
  await db.query(
    `update render_leases set stored_at = now(), expires_at = now() + make_interval(secs => $2)
     where derived_key = $1`,
    [derived_key, told_seconds],
  );
}

/** Gives up one's own lease, or without an id anybody's: nothing was stored. */
export async function deleteRenderLease(
  db: Queryable,
  { derived_key, lease_id = null }: { derived_key: string; lease_id?: string | null },
): Promise<void> {
  await db.query(
    `delete from render_leases
     where derived_key = $1 and stored_at is null and ($2::text is null or lease_id = $2)`,
    [derived_key, lease_id],
  );
}
