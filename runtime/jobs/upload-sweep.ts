/**
 * Finds what a lost call, a lost doorbell or a killed process left behind: completes uploads whose object came,
 * ends those whose time is over, rings again for those that wait, and deletes objects that nothing needs.
 * Spec: Upload session (status).
 */
import { isJoined } from '../actions/check-digest.ts';
import { completeUpload } from '../actions/complete-upload.ts';
import { failUnprocessed } from '../actions/fail-upload.ts';
import { ServiceError } from '../core/errors.ts';
import { inParts } from '../core/in-parts.ts';
import { updateUploadExpired, updateUploadWrongSize } from '../db/upload-ends.ts';
import { listClaimableUploads } from '../db/upload-processing.ts';
import { listOpenUploads, type UploadRow } from '../db/uploads.ts';
import { doorbellsOf, type Queue } from '../platform/queue/queue.ts';
import type { JobContext, JobCounts } from './job.ts';
import { deleteDoomed, deleteLeftBehind } from './object-sweep.ts';

const PAGE_ROWS = 500;
const AT_ONCE = 8;
/** Younger ones have a client that is still at it. */
const UPLOAD_AGE_SECONDS_MIN = 30;
const DOORBELLS_MAX = 1000;

export async function uploadSweep(
  context: JobContext,
  { page_rows = PAGE_ROWS }: { page_rows?: number } = {},
): Promise<JobCounts> {
  const counts = { completed: 0, expired: 0, failed: 0, errors: 0 };
  // First, as what waits here is accepted already, and to look at the others may take long.
  const rung = await ringAgain(context);
  for (let after = ''; ; ) {
    const query = { after, limit: page_rows, min_age_seconds: UPLOAD_AGE_SECONDS_MIN };
    const page = await listOpenUploads(context.db, query);
    for (const outcome of await sweepAll(context, page)) {
      if (outcome !== 'open') counts[outcome] += 1;
    }
    after = page.at(-1)?.upload_id ?? '';
    if (page.length < page_rows) break;
  }
  const deleted = await deleteDoomed(context);
  const left_behind = await deleteLeftBehind(context);
  return { ...counts, rung, deleted, left_behind };
}

type Outcome = 'completed' | 'expired' | 'failed' | 'errors' | 'open';

async function sweepAll(context: JobContext, uploads: UploadRow[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const some of inParts(uploads, AT_ONCE)) {
    context.signal.throwIfAborted();
    outcomes.push(...(await Promise.all(some.map((upload) => sweepSafely(context, upload)))));
  }
  return outcomes;
}

/** One upload that cannot be looked at must not keep the others waiting. */
async function sweepSafely(context: JobContext, upload: UploadRow): Promise<Outcome> {
  try {
    return await sweepUpload(context, upload);
  } catch (error) {
    context.log.warn('an upload could not be swept', { upload_id: upload.upload_id, error });
    return 'errors';
  }
}

/** What the storage holds decides. */
async function sweepUpload(context: JobContext, upload: UploadRow): Promise<Outcome> {
  const { db, buckets } = context;
  const head = await buckets.ingest.head(upload.ingest_key);
  if (head?.size_bytes === upload.size_bytes) return complete(context, upload);
  if (!upload.is_expired) return 'open';
  if (head === undefined) return expire(context, upload);
  const ended = await failUnprocessed({ db }, upload, updateUploadWrongSize);
  return ended === undefined ? 'open' : 'failed';
}

async function expire({ db }: JobContext, upload: UploadRow): Promise<Outcome> {
  const ended = await db.transaction((tx) => updateUploadExpired(tx, upload.upload_id));
  return ended === undefined ? 'open' : 'expired';
}

/**
 * Bytes with another digest stay `created` while they may be sent again, and joined parts cannot; at its end the worker
 * judges them. Those of a suspended project wait until it is active again, and end with the session.
 */
async function complete(context: JobContext, upload: UploadRow): Promise<Outcome> {
  try {
    await completeUpload(context, upload, { sha256: upload.is_expired ? 'worker' : 'here' });
    return 'completed';
  } catch (error) {
    if (!(error instanceof ServiceError && refusals.has(error.code))) throw error;
    if (error.code === 'project_suspended' && upload.is_expired) return expire(context, upload);
    return error.code === 'sha256_mismatch' && isJoined(upload) ? 'failed' : 'open';
  }
}

const refusals: ReadonlySet<string> = new Set([
  'sha256_mismatch',
  'ingest_size_mismatch',
  'ingest_object_missing',
  'upload_expired',
  'project_suspended',
]);

/**
 * As many doorbells as there are fewer than uploads that wait: each is good for any of them, and more would only call
 * workers for nothing. Who is not heard once is not heard at the other doors either: the next sweep tries again.
 */
async function ringAgain({ db, queue, log }: JobContext): Promise<number> {
  const waiting = await listClaimableUploads(db, DOORBELLS_MAX);
  let rung = 0;
  try {
    await queue.mend('ingest');
    const ringing = await countDoorbells(queue);
    for (const upload_id of waiting.slice(ringing)) {
      await queue.publish('ingest', { upload_id });
      rung += 1;
    }
  } catch (error) {
    log.warn('doorbells were not taken', { counts: { waiting: waiting.length, rung }, error });
  }
  return rung;
}

/** Where the broker does not say, it rings rather too often. */
async function countDoorbells(queue: Queue): Promise<number> {
  const depths = await queue.depths().catch(() => []);
  return depths.find((one) => one.queue === doorbellsOf('ingest'))?.waiting ?? 0;
}
