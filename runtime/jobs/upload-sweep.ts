/**
 * Repairs what a lost call, a lost doorbell or a killed process left behind: completes uploads whose object has
 * arrived, ends expired ones, rings again for those that wait, and deletes objects that nothing needs.
 * Spec: Upload session (status).
 */
import { isMultipart } from '../actions/check-digest.ts';
import { completeUpload } from '../actions/complete-upload.ts';
import { failUnprocessed } from '../actions/fail-upload.ts';
import { ServiceError } from '../core/errors.ts';
import { inChunks } from '../core/in-chunks.ts';
import { updateUploadExpired, updateUploadWrongSize } from '../db/upload-ends.ts';
import { listClaimableUploads } from '../db/upload-processing.ts';
import { listOpenUploads, type UploadRow } from '../db/uploads.ts';
import { doorbellsOf, type Queue } from '../platform/queue/queue.ts';
import type { JobContext, JobCounts } from './job.ts';
import { deleteDoomed, deleteOrphanedObjects } from './object-sweep.ts';

const PAGE_ROWS = 500;
const AT_ONCE = 8;
/** The client of a younger upload is probably still active. */
const UPLOAD_AGE_SECONDS_MIN = 30;
const DOORBELLS_MAX = 1000;

export async function uploadSweep(
  context: JobContext,
  { page_rows = PAGE_ROWS }: { page_rows?: number } = {},
): Promise<JobCounts> {
  const counts = { completed: 0, expired: 0, failed: 0, errors: 0 };
  // First, because these uploads are already accepted, and checking the others may take long.
  const rung = await republishDoorbells(context);
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
  const left_behind = await deleteOrphanedObjects(context);
  return { ...counts, rung, deleted, left_behind };
}

type Outcome = 'completed' | 'expired' | 'failed' | 'errors' | 'open';

async function sweepAll(context: JobContext, uploads: UploadRow[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const some of inChunks(uploads, AT_ONCE)) {
    context.signal.throwIfAborted();
    outcomes.push(...(await Promise.all(some.map((upload) => sweepSafely(context, upload)))));
  }
  return outcomes;
}

/** An upload that cannot be checked must not stop the others. */
async function sweepSafely(context: JobContext, upload: UploadRow): Promise<Outcome> {
  try {
    return await sweepUpload(context, upload);
  } catch (error) {
    context.log.warn('the sweep failed for an upload', { upload_id: upload.upload_id, error });
    return 'errors';
  }
}

/** Decides by what the storage holds. */
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
 * After a digest mismatch, an upload stays `created` while its bytes can be sent again, which
 * joined parts cannot. Once it has expired, the worker compares. Uploads of a suspended project
 * wait until it is active again, and end with the session.
 */
async function complete(context: JobContext, upload: UploadRow): Promise<Outcome> {
  try {
    await completeUpload(context, upload, { sha256: upload.is_expired ? 'worker' : 'here' });
    return 'completed';
  } catch (error) {
    if (!(error instanceof ServiceError && refusals.has(error.code))) throw error;
    if (error.code === 'project_suspended' && upload.is_expired) return expire(context, upload);
    return error.code === 'sha256_mismatch' && isMultipart(upload) ? 'failed' : 'open';
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
 * Rings as many doorbells as are missing for the waiting uploads: each doorbell serves any of them,
 * and more would only wake workers in vain. If one is not accepted, the others would not be either,
 * and the next sweep tries again.
 */
async function republishDoorbells({ db, queue, log }: JobContext): Promise<number> {
  const waiting = await listClaimableUploads(db, DOORBELLS_MAX);
  let rung = 0;
  try {
    await queue.repair('ingest');
    const ringing = await countDoorbells(queue);
    for (const upload_id of waiting.slice(ringing)) {
      await queue.publish('ingest', { upload_id });
      rung += 1;
    }
  } catch (error) {
    log.warn('the broker did not accept doorbells', {
      counts: { waiting: waiting.length, rung },
      error,
    });
  }
  return rung;
}

/** If the broker does not tell, assume none and ring too often. */
async function countDoorbells(queue: Queue): Promise<number> {
  const depths = await queue.depths().catch(() => []);
  return depths.find((one) => one.queue === doorbellsOf('ingest'))?.waiting ?? 0;
}
