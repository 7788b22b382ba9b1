// Table uploads, from accepted bytes to ready or failed: attempts are counted before work begins, a lease says who
// works, and a result is accepted only under the attempt it began with. Spec: States and transitions.
import type { ProcessingErrorCode } from '../core/errors.ts';
import { PROCESSING_KILLS_EXCUSED_MAX } from '../core/limits.ts';
import { additionalUploadMoves, statesBefore, uploadMoves } from '../core/states.ts';
import type { Queryable, Transaction } from './client.ts';
import { endUpload, RELEASED_FROM_ENDED } from './upload-ends.ts';
import { UPLOAD_COLUMNS, type UploadRow } from './uploads.ts';

/** One attempt at one upload: what fences a result. */
export type Attempt = Pick<UploadRow, 'upload_id' | 'attempt'>;

const CLAIMABLE = `(status = any($1) or (status = any($2) and lease_until <= now()))`;
const claimableStates = () => [
  statesBefore(uploadMoves, 'start'),
  statesBefore(additionalUploadMoves, 'retry'),
];

/** Ids of uploads that could be claimed now, longest waiting first: the doorbells to ring again. */
export async function listClaimableUploads(db: Queryable, limit: number): Promise<string[]> {
  const rows = await db.query<{ upload_id: string }>(
    `select upload_id from uploads where ${CLAIMABLE} order by uploaded_at limit $3`,
    [...claimableStates(), limit],
  );
  return rows.map((row) => row.upload_id);
}

/** The attempt as it was claimed: `updated_at` moves when it is put off, and with no heartbeat. */
export type LeasedAttempt = Attempt & Pick<UploadRow, 'updated_at'> & { lease_seconds: number };

/** The heartbeat. False when the attempt is over, or put off: its work is to be dropped. */
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
 * Ends every lease, for an installation whose only worker is certainly gone: killed with everything else, so that its
 * attempts are excused. What ends later than a lease can is the pause before a next attempt, and stays; a shorter
 * pause is over too, and its attempt may have been excused before. Returns how many there were.
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

/** Why an attempt ended; one that ended because database or storage were away is excused. */
export type RetryCause = 'timeout' | 'failure' | 'unavailable';

/** The attempt as it was claimed. */
export type Retry = Attempt &
  Pick<UploadRow, 'timeout_count' | 'excused_count'> & { delay_seconds: number; cause: RetryCause };

/**
 * Ends an attempt without a result; the upload can be claimed again after the delay. Counted from what the attempt began
 * with, so that to say it again after a lost answer counts nothing twice.
 */
export async function updateUploadRetry(
  db: Queryable,
  retry: Retry,
): Promise<UploadRow | undefined> {
  const rows = await db.query<UploadRow>(
    `update uploads set lease_until = now() + make_interval(secs => $3), updated_at = now(),
       timeout_count = $4, excused_count = $5
     where upload_id = $1 and attempt = $2 and status = any($6) returning ${UPLOAD_COLUMNS}`,
    [
      retry.upload_id,
      retry.attempt,
      retry.delay_seconds,
      retry.timeout_count + (retry.cause === 'timeout' ? 1 : 0),
      retry.excused_count + (retry.cause === 'unavailable' ? 1 : 0),
      statesBefore(additionalUploadMoves, 'retry'),
    ],
  );
  return rows[0];
}

type Failure = Attempt & { error_code: ProcessingErrorCode; stored_sha256?: string | undefined };

/** In the place of an ETag: the digest is that of the bytes that a worker read, whatever object they came from. */
export const READ_BY_WORKER = '';

/** processing → failed, with the digest of bytes that were not the declared ones. Undefined when the attempt is over. */
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

/** processing → ready, with the revision that it became. Undefined when the attempt is over. */
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

/** Locks the upload of a running attempt until the transaction ends. Undefined when the attempt is over. */
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
