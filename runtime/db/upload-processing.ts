// Table uploads, from accepted bytes to ready or failed: attempts are counted before work begins, a lease says who is
// working, and a result is accepted only for its own attempt. Spec: States and transitions.
import type { ProcessingErrorCode } from '../core/errors.ts';
import { PROCESSING_KILLS_EXCUSED_MAX } from '../core/limits.ts';
import { additionalUploadMoves, statesBefore, uploadMoves } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';
import { endUpload, RELEASED_FROM_ENDED } from './upload-ends.ts';
import { UPLOAD_COLUMNS, type UploadRow } from './uploads.ts';

/** One attempt at one upload: it fences the result. */
export type Attempt = Pick<UploadRow, 'upload_id' | 'attempt'>;

/**
 * Ids of uploads that can be claimed now, longest waiting first: their doorbells must ring again.
 */
export async function listClaimableUploads(db: Queryable, limit: number): Promise<string[]> {
  const rows = await db.query<{ upload_id: string }>(
    `select upload_id from uploads
     where status = any($1) or (status = any($2) and lease_until <= now()) order by uploaded_at limit $3`,
    [statesBefore(uploadMoves, 'start'), statesBefore(additionalUploadMoves, 'retry'), limit],
  );
  return rows.map((row) => row.upload_id);
}

/**
 * The attempt as it was claimed: `updated_at` changes when the attempt is put off, but not by
 * heartbeats.
 */
export type LeasedAttempt = Attempt & Pick<UploadRow, 'updated_at'> & { lease_seconds: number };

/** The heartbeat. False if the attempt is over or put off: its work must be dropped. */
export async function updateUploadLease(
  db: Queryable,
  { upload_id, attempt, updated_at, lease_seconds }: LeasedAttempt,
): Promise<boolean> {
  const rows = await db.query(
    `update uploads set lease_until = now() + make_interval(secs => $3)
     where upload_id = $1 and attempt = $2 and status = 'processing' and updated_at = $4 returning upload_id`,
    [upload_id, attempt, lease_seconds, updated_at],
  );
  return rows.length > 0;
}

/**
 * Ends every lease, for an installation whose only worker is certainly gone: it was killed with
 * everything else, so its attempts are excused. A time further ahead than any lease is the pause
 * before a next attempt, and stays. A shorter pause also ends, and its attempt may be excused
 * twice. The attempts count as lost all the same: the cause may have been one of the uploads.
 * Returns how many leases there were.
 */
export async function updateUploadLeasesOver(
  db: Queryable,
  { lease_seconds }: { lease_seconds: number },
): Promise<number> {
  const rows = await db.query(
    `update uploads set lease_until = now(),
       excused_count = excused_count + case when excused_count < least($2, attempt) then 1 else 0 end
     where status = 'processing' and lease_until > now() and lease_until <= now() + make_interval(secs => $1)
     returning upload_id`,
    [lease_seconds, PROCESSING_KILLS_EXCUSED_MAX],
  );
  return rows.length;
}

/** Why an attempt ended; an attempt that ended because database or storage were down is excused. */
export type RetryCause = 'timeout' | 'failure' | 'unavailable';

/** The attempt as it was claimed. */
export type Retry = Attempt &
  Pick<UploadRow, 'timeout_count' | 'excused_count' | 'put_off_count'> & {
    delay_seconds: number;
    cause: RetryCause;
  };

/**
 * Ends an attempt without a result; the upload can be claimed again after the delay. The counts
 * derive from those at the claim, so that repeating the call after a lost answer counts nothing
 * twice.
 */
export async function updateUploadRetry(
  db: Queryable,
  retry: Retry,
): Promise<UploadRow | undefined> {
  const rows = await db.query<UploadRow>(
    `update uploads set lease_until = now() + make_interval(secs => $3), updated_at = now(),
       timeout_count = $4, excused_count = $5, put_off_count = $6
     where upload_id = $1 and attempt = $2 and status = any($7) returning ${UPLOAD_COLUMNS}`,
    [
      retry.upload_id,
      retry.attempt,
      retry.delay_seconds,
      retry.timeout_count + (retry.cause === 'timeout' ? 1 : 0),
      retry.excused_count + (retry.cause === 'unavailable' ? 1 : 0),
      retry.put_off_count + 1,
      statesBefore(additionalUploadMoves, 'retry'),
    ],
  );
  return rows[0];
}

type Failure = Attempt & { error_code: ProcessingErrorCode; stored_sha256?: string | undefined };

/** In place of an ETag: the digest is of the bytes that a worker read, from whatever object. */
export const READ_BY_WORKER = '';

/**
 * processing → failed, with the digest of bytes that differ from the declared ones. Undefined if
 * the attempt is over.
 */
export async function updateUploadFailed(
  tx: Transaction,
  { upload_id, attempt, error_code, stored_sha256 }: Failure,
): Promise<UploadRow | undefined> {
  if (stored_sha256 !== undefined) {
    await tx.query(
      'update uploads set refused_etag = $3, refused_sha256 = $4 where upload_id = $1 and attempt = $2',
      [upload_id, attempt, READ_BY_WORKER, stored_sha256],
    );
  }
  return endUpload(tx, {
    condition: 'upload_id = $1 and attempt = $2 and status = any($3)',
    values: [upload_id, attempt, statesBefore(uploadMoves, 'refuse')],
    status: 'failed',
    error_code,
  });
}

/** processing → ready, with the revision that it became. Undefined if the attempt is over. */
export async function updateUploadReady(
  tx: Transaction,
  { upload_id, attempt, file_id, revision }: Attempt & { file_id: string; revision: number },
): Promise<UploadRow | undefined> {
  const rows = await tx.query<UploadRow>(
    `with ended as (
       update uploads set status = 'ready', ready_at = now(), file_id = $3, revision = $4,
         lease_until = null, updated_at = now()
       where upload_id = $1 and attempt = $2 and status = any($5) returning ${UPLOAD_COLUMNS}
     ), ${RELEASED_FROM_ENDED}
     select * from ended`,
    [upload_id, attempt, file_id, revision, statesBefore(uploadMoves, 'publish')],
  );
  return rows[0];
}

/**
 * Locks the upload of a running attempt until the transaction ends. Undefined if the attempt is
 * over.
 */
export async function lockUploadAttempt(
  tx: Transaction,
  { upload_id, attempt }: Attempt,
): Promise<UploadRow | undefined> {
  const rows = await tx.query<UploadRow>(
    `select ${UPLOAD_COLUMNS} from uploads
     where upload_id = $1 and attempt = $2 and status = any($3) for no key update`,
    [upload_id, attempt, statesBefore(uploadMoves, 'publish')],
  );
  return rows[0];
}
