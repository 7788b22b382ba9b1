/**
 * One attempt at one upload, from the claim to its end: ready, failed, or left for a later attempt.
 * Spec: States and transitions, Upload session; Processing error codes.
 */
import { failUpload } from '../../actions/fail-upload.ts';
import { publishFile } from '../../actions/publish-file.ts';
import type { ProcessingErrorCode } from '../../core/errors.ts';
import { INGEST_LEASE_SECONDS } from '../../core/limits.ts';
import type { Database } from '../../db/client.ts';
import type { FileRow } from '../../db/files.ts';
import { updateUploadRetry } from '../../db/upload-processing.ts';
import type { UploadRow } from '../../db/uploads.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Failpoint } from '../../platform/failpoint.ts';
import type { Log } from '../../platform/log.ts';
import type { Buckets } from '../../platform/storage/bucket.ts';
import { describeSpan, traced } from '../../platform/tracing/spans.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { abandonmentOf, verdictOf } from './attempt-verdict.ts';
import type { DoorbellTraces } from './doorbell-traces.ts';
import { IngestRefusal } from './ingest-refusal.ts';
import { LeaseLost, renewLease } from './lease.ts';
import { readIngestAnswer } from './read-answer.ts';
import { retryDuringOutage } from './retry-during-outage.ts';
import { storeContent } from './store-content.ts';
import { verifiedChunks, WrongDigest } from './verified-chunks.ts';
import { createWorkerClaims, type WorkerClaims } from './worker-claims.ts';

export type IngestDeps = {
  db: Database;
  buckets: Buckets;
  sandbox: Sandbox;
  clock: Clock;
  log: Log;
  failpoint?: Failpoint;
  /** The deployment's upload size limit. */
  ingest_bytes_max: number;
  lease_seconds?: number;
  is_scanned?: boolean;
  traces?: DoorbellTraces;
  /** Shared by all slots of a worker; without it, every call may take any upload. */
  claims?: WorkerClaims;
  /** Aborts when the process ends, which then no longer waits for an outage to end. */
  stopping?: AbortSignal;
};

export type IngestOutcome =
  | { result: 'idle' | 'reserved' | 'dropped' }
  | { result: 'ready'; file: FileRow }
  | { result: 'failed'; error_code: ProcessingErrorCode }
  | { result: 'retry'; delay_seconds: number };

/**
 * Claims the upload with this id if possible; without an id the next one. `reserved`: the next one
 * has to wait until the worker has nothing else in hand.
 */
export async function ingestUpload(
  deps: IngestDeps,
  uploadId: string | null,
): Promise<IngestOutcome> {
  const lease_seconds = deps.lease_seconds ?? INGEST_LEASE_SECONDS;
  const claims = deps.claims ?? createWorkerClaims();
  const upload = await claims.claim(deps.db, { upload_id: uploadId, lease_seconds });
  if (upload === undefined) return { result: 'idle' };
  if (upload === 'reserved') return { result: 'reserved' };
  try {
    const work = () => ingestTraced({ ...deps, lease_seconds }, upload);
    return await (deps.traces?.follow(upload.upload_id, work) ?? work());
  } finally {
    claims.end(upload);
  }
}

type LeasingDeps = IngestDeps & { lease_seconds: number };

function ingestTraced(deps: LeasingDeps, upload: UploadRow): Promise<IngestOutcome> {
  const { upload_id, project_id, attempt } = upload;
  const attributes = {
    'tintype.upload_id': upload_id,
    'tintype.project_id': project_id,
    'tintype.attempt': attempt,
  };
  return traced('ingest', { attributes }, async () => {
    const outcome = await ingestClaimed(deps, upload);
    describeSpan({ 'tintype.result': outcome.result });
    if (outcome.result === 'ready') deps.log.debug('an upload is ready', { upload_id, attempt });
    return outcome;
  });
}

async function ingestClaimed(deps: LeasingDeps, upload: UploadRow): Promise<IngestOutcome> {
  const { lease_seconds } = deps;
  const lease = renewLease(deps.db, { ...upload, lease_seconds });
  try {
    return await attempt(deps, upload, lease.signal);
  } catch (error) {
    return await settle(deps, upload, error);
  } finally {
    lease.end();
  }
}

async function attempt(
  deps: IngestDeps,
  upload: UploadRow,
  signal: AbortSignal,
): Promise<IngestOutcome> {
  const abandoned = abandonmentOf(upload);
  if (abandoned !== undefined) throw new IngestRefusal(abandoned, 'no attempt is left');
  await deps.failpoint?.('ingest.claimed');
  const { result, source_sha256 } = await decode(deps, upload, signal);
  await deps.failpoint?.('ingest.decoded');
  const stored = await storeContent(deps, upload, result);
  signal.throwIfAborted();
  await deps.failpoint?.('ingest.before_publish');
  const { location, taken_at, master: _master, native: _native, ...known } = result;
  const file = await publishFile(deps, {
    upload_id: upload.upload_id,
    attempt: upload.attempt,
    taken_at: taken_at === null ? null : new Date(taken_at),
    location,
    facts: {
      ...known,
      ...stored,
      thumb_hash: Buffer.from(result.thumb_hash, 'base64'),
      source_content_type: upload.content_type,
      source_size_bytes: upload.size_bytes,
      source_sha256,
    },
  });
  if (file === undefined) throw new LeaseLost(upload);
  await deps.failpoint?.('ingest.published');
  await deleteIngestObject(deps, upload);
  return { result: 'ready', file };
}

/** Decodes exactly the bytes that are verified. */
async function decode(deps: IngestDeps, upload: UploadRow, signal: AbortSignal) {
  if (upload.size_bytes > deps.ingest_bytes_max) {
    throw new IngestRefusal('file_too_large', `${upload.size_bytes} bytes`);
  }
  const object = await deps.buckets.ingest.open(upload.ingest_key);
  if (object === undefined) throw new IngestRefusal('ingest_object_missing', upload.ingest_key);
  const { chunks, digest } = verifiedChunks(object, upload);
  try {
    await deps.failpoint?.('ingest.opened');
    const answer = await deps.sandbox.run({
      kind: 'ingest',
      facts: { content_type: upload.content_type },
      parts: [{ size_bytes: upload.size_bytes, chunks: announced(chunks, deps.failpoint) }],
      signal,
      about: namesOf(upload),
    });
    return { result: readIngestAnswer(answer), source_sha256: digest() };
  } finally {
    object.destroy();
  }
}

async function* announced(chunks: AsyncIterable<Uint8Array>, failpoint: Failpoint | undefined) {
  yield* chunks;
  await failpoint?.('ingest.verified');
}

/** The log fields that identify an attempt. */
function namesOf({ upload_id, project_id, attempt }: UploadRow) {
  return { upload_id, project_id, attempt };
}

/**
 * The kind of failure decides how the attempt ends; if that cannot be recorded within a lease, it
 * is left to the next attempt.
 */
async function settle(
  deps: LeasingDeps,
  upload: UploadRow,
  error: unknown,
): Promise<IngestOutcome> {
  const { upload_id, attempt: number } = upload;
  const retryLimits = { seconds: deps.lease_seconds, stopping: deps.stopping };
  const written = <T>(write: () => Promise<T>) => retryDuringOutage(retryLimits, write);
  const log = deps.log.child(namesOf(upload));
  const verdict = verdictOf(error, upload);
  switch (verdict.end) {
    case 'drop':
      log.warn('an attempt to process an upload was superseded', { error });
      return { result: 'dropped' };
    case 'fail': {
      const { error_code } = verdict;
      log.info('an upload was refused', { error_code, error });
      const stored_sha256 = error instanceof WrongDigest ? error.stored_sha256 : undefined;
      const failure = { upload_id, attempt: number, error_code, stored_sha256 };
      const failed = await written(() => failUpload(deps, failure));
      if (failed === undefined) return { result: 'dropped' };
      await deleteIngestObject(deps, upload);
      return { result: 'failed', error_code };
    }
    case 'retry': {
      const { cause, delay_seconds } = verdict;
      log.warn('an attempt to process an upload failed', { reason: cause, error });
      const retry = { ...upload, cause, delay_seconds };
      const left = await written(() => updateUploadRetry(deps.db, retry));
      return left === undefined ? { result: 'dropped' } : { result: 'retry', delay_seconds };
    }
  }
}

/** Its row also marks the object for deletion, so that a failure here only delays it. */
async function deleteIngestObject(
  { buckets, log, failpoint }: IngestDeps,
  { ingest_key, upload_id }: UploadRow,
): Promise<void> {
  try {
    await buckets.ingest.delete(ingest_key);
    await failpoint?.('ingest.object_deleted');
  } catch (error) {
    log.warn('an ingest object was not deleted: the sweep will do it', { upload_id, error });
  }
}
