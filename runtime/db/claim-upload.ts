// Table upload_turns, and which upload is attempted next: projects take turns, however many uploads each has waiting.
// Within a project, an attempt that was lost is repeated first, then comes the longest wait. Spec: States and
// transitions.
import { additionalUploadMoves, statesBefore, uploadMoves } from '../core/states.ts';
import type { Queryable } from './client.ts';
import { UPLOAD_COLUMNS, type UploadRow } from './uploads.ts';

/**
 * uploaded → processing, or the next attempt after a lease expired: attempt + 1 and a lease, before
 * any work. With an id only that upload, otherwise one of the project whose last turn is longest
 * ago. Undefined if there is nothing to do.
 */
export async function claimUpload(db: Queryable, claim: Claim): Promise<UploadRow | undefined> {
  return (await sendClaim(db, { ...claim, condition: 'true' }))?.upload;
}

/**
 * For a worker that has other uploads in hand: if the next upload needs a worker to itself,
 * `reserved`, and nothing is claimed. The worker may take it once it has nothing else in hand.
 */
export async function claimUploadBeside(
  db: Queryable,
  claim: Claim,
): Promise<UploadRow | 'reserved' | undefined> {
  const picked = await sendClaim(db, { ...claim, condition: 'not was_lost' });
  return picked === undefined ? undefined : (picked.upload ?? 'reserved');
}

/**
 * `quick`: leaves out uploads that timed out before, as each may occupy a slot for as long again.
 */
export type Claim = { upload_id: string | null; lease_seconds: number; among?: 'all' | 'quick' };

/**
 * Whether an attempt before the current one was lost with its worker, of which the upload may be
 * the cause.
 */
export function wasLost({ attempt, put_off_count }: UploadRow): boolean {
  return attempt - 1 > put_off_count;
}

/** The same, before an attempt is claimed. */
const WAS_LOST = 'attempt > put_off_count as was_lost';

async function sendClaim(
  db: Queryable,
  { upload_id, lease_seconds, among = 'all', condition }: Claim & { condition: string },
): Promise<{ upload: UploadRow | undefined } | undefined> {
  const [row] =
    upload_id === null
      ? await db.query<UploadRow | NoUpload>(claimOf(FAIREST[among], condition), [lease_seconds])
      : await db.query<UploadRow | NoUpload>(claimOf(ONE, condition), [lease_seconds, upload_id]);
  return row && { upload: row.upload_id === null ? undefined : row };
}

/** Picked, but not claimed. */
type NoUpload = { upload_id: null };

// Literals, as they are the same in every call: only variable values are parameters.
const statesIn = (states: readonly string[]) => states.map((state) => `'${state}'`).join(', ');
const WAITING = `status in (${statesIn(statesBefore(uploadMoves, 'start'))})`;
const LEASED = `status in (${statesIn(statesBefore(additionalUploadMoves, 'retry'))})`;

/**
 * An upload that timed out may occupy its next slot for as long again, so a project may have only
 * one of those at work. Rows in the pause before their next attempt count too, for the few seconds
 * that it lasts.
 */
const DUE = `${LEASED} and lease_until <= now() and not (timeout_count > 0 and exists (
    select from uploads slow where slow.project_id = uploads.project_id and slow.timeout_count > 0
      and slow.lease_until > now() and slow.status in (${statesIn(statesBefore(additionalUploadMoves, 'retry'))})
  ))`;

/**
 * Every project with such an upload, by one index step per project, however many uploads there are.
 */
const projectsWith = (name: string, condition: string) => `${name}(project_id) as (
    (select project_id from uploads where ${condition} order by project_id limit 1)
    union all
    select (select uploads.project_id from uploads
      where ${condition} and uploads.project_id > ${name}.project_id order by uploads.project_id limit 1)
    from ${name} where ${name}.project_id is not null
  )`;

/** The first upload of a project that no other worker is claiming at the moment. */
const firstOfTurn = (condition: string, order: string) => `select upload_id, was_lost from (
      select upload_id, ${WAS_LOST} from uploads where uploads.project_id = turn.project_id and ${condition}
      order by ${order} limit 1 for update skip locked
    ) first_of_project`;

const fairestOf = (due: string) => `
  ${projectsWith('waiting', WAITING)},
  ${projectsWith('leased', LEASED)},
  turn as (
    select project_id from (
      select project_id from waiting where project_id is not null
      union select project_id from leased where project_id is not null
    ) candidates left join upload_turns using (project_id)
    order by upload_turns.claimed_at nulls first, project_id
  ),
  picked as (
    select next.upload_id, next.was_lost from turn cross join lateral (
      ${firstOfTurn(due, 'lease_until')}
      union all ${firstOfTurn(WAITING, 'uploaded_at')}
      limit 1
    ) next limit 1
  )`;

const FAIREST = {
  all: fairestOf(DUE),
  quick: fairestOf(`${LEASED} and lease_until <= now() and timeout_count = 0`),
};

const ONE = `picked as (
    select upload_id, ${WAS_LOST} from uploads
    where upload_id = $2 and (${WAITING} or (${LEASED} and lease_until <= now()))
    for update skip locked
  )`;

const claimOf = (picked: string, condition: string) => `with recursive ${picked},
  claimed as (
    update uploads set status = 'processing', attempt = attempt + 1, updated_at = now(),
      lease_until = now() + make_interval(secs => $1)
    where upload_id = (select upload_id from picked where ${condition}) returning ${UPLOAD_COLUMNS}
  ),
  turned as (
    insert into upload_turns (project_id, claimed_at) select project_id, now() from claimed
    on conflict (project_id) do update set claimed_at = excluded.claimed_at
  )
  select claimed.* from picked left join claimed on true`;
