import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type CompleteUploadOptions,
  completeUpload,
} from '../../../runtime/actions/complete-upload.ts';
import type { ServiceError } from '../../../runtime/core/errors.ts';
import { describeProcessingError } from '../../../runtime/core/image/describe-processing-error.ts';
import { findProject, type ProjectRow } from '../../../runtime/db/projects.ts';
import { updateUploadAborted } from '../../../runtime/db/upload-ends.ts';
import { updateUploadFailed } from '../../../runtime/db/upload-processing.ts';
import { findUpload, type NewUpload, type UploadRow } from '../../../runtime/db/uploads.ts';
import { auditEntries } from '../../support/audit-entries.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeProcessing, makeProject, makeUpload, must } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 24 });
const bytes = Buffer.from('the bytes of an image, as far as storage is concerned');
const sha256 = createHash('sha256').update(bytes).digest('hex');
/** Settings of a multipart upload. An object at its key is the result of joining its parts. */
const PARTS = { storage_upload_id: 's', part_count: 2, part_size: 5_242_880 };
let jobs: TestJobs;
let project: ProjectRow;

beforeAll(async () => {
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());
beforeEach(async () => {
  project = await makeProject(db);
  jobs.rung.length = 0;
});

function make(settings: Partial<NewUpload> = {}): Promise<UploadRow> {
  return makeUpload(db, project, { size_bytes: bytes.length, ...settings });
}

async function put(upload: UploadRow, body = bytes): Promise<void> {
  await jobs.deps.buckets.ingest.write(upload.ingest_key, body, { content_type: 'image/png' });
}

async function now(upload: UploadRow): Promise<UploadRow> {
  return must(await findUpload(db, upload.upload_id));
}

/** The row without `remaining_seconds`, which depends on the time of the query. */
function timeless({ remaining_seconds: _now, ...row }: UploadRow): Partial<UploadRow> {
  return row;
}

async function refusal(upload: UploadRow, options?: CompleteUploadOptions): Promise<ServiceError> {
  return completeUpload(jobs.deps, upload, options).then(
    () => Promise.reject(new Error('it was not refused')),
    (error: ServiceError) => error,
  );
}

async function expire(upload: UploadRow): Promise<UploadRow> {
  await db.query(
    `update uploads set expires_at = now() - interval '1 second' where upload_id = $1`,
    [upload.upload_id],
  );
  return now(upload);
}

describe('completing an upload whose object is stored', () => {
  it('makes it uploaded and notifies the workers once, however often it is repeated', async () => {
    const upload = await make();
    await put(upload);
    const first = await completeUpload(jobs.deps, upload);
    expect(first).toMatchObject({ status: 'uploaded', uploaded_at: expect.any(Date) });
    for (const again of [upload, first, await now(upload)]) {
      expect(timeless(await completeUpload(jobs.deps, again))).toEqual(timeless(first));
    }
    await turn();
    expect(jobs.rung).toEqual([upload.upload_id]);
  });

  it('moves it exactly once for twenty concurrent callers, who all see the same upload', async () => {
    const upload = await make({ sha256 });
    await put(upload);
    const seen = await Promise.all(
      Array.from({ length: 20 }, () => completeUpload(jobs.deps, upload)),
    );
    await turn();
    expect(jobs.rung).toEqual([upload.upload_id]);
    expect(new Set(seen.map((row) => row.uploaded_at?.getTime())).size).toBe(1);
    expect((await findProject(db, project.project_id))?.reserved_bytes).toBe(bytes.length);
  });

  it('succeeds even after its expires_at, unless something has ended it', async () => {
    for (const upload of [await make(), await make(PARTS)]) {
      await put(upload);
      const late = await expire(upload);
      expect(await completeUpload(jobs.deps, late)).toMatchObject({ status: 'uploaded' });
    }
  });

  it('returns it unchanged once it is being processed', async () => {
    const processing = await makeProcessing(db, project);
    expect(await completeUpload(jobs.deps, processing)).toMatchObject({ status: 'processing' });
  });

  it('returns it as it is now, even if its bytes were removed since the caller read it', async () => {
    for (const began of [await make(), await make({ sha256 }), await expire(await make())]) {
      await put(began);
      const failpoint = async () => {
        await completeUpload(jobs.deps, began);
        await jobs.deps.buckets.ingest.delete(began.ingest_key);
      };
      const slow = await completeUpload({ ...jobs.deps, failpoint }, began);
      expect(slow.status).toBe('uploaded');
      expect(timeless(await completeUpload(jobs.deps, began))).toEqual(timeless(slow));
    }
  });

  it('succeeds even if the queue cannot be reached', async () => {
    const upload = await make();
    await put(upload);
    const queue = { ...jobs.deps.queue, publish: () => Promise.reject(new Error('no broker')) };
    const moved = await completeUpload({ ...jobs.deps, queue }, upload);
    expect(moved.status).toBe('uploaded');
  });
});

describe('completing an upload whose object is missing or wrong', () => {
  it('answers 409 ingest_object_missing while no object is stored, and keeps it created', async () => {
    const upload = await make();
    expect(await refusal(upload)).toMatchObject({ code: 'ingest_object_missing', status: 409 });
    expect((await now(upload)).status).toBe('created');
  });

  it('answers 409 ingest_size_mismatch while the object has another size, and keeps it created', async () => {
    const upload = await make();
    await put(upload, Buffer.from('short'));
    expect(await refusal(upload)).toMatchObject({ code: 'ingest_size_mismatch', status: 409 });
    expect((await now(upload)).status).toBe('created');
    expect(jobs.rung).toEqual([]);
  });

  it('answers 422 sha256_mismatch for other bytes, and succeeds once the right ones are stored', async () => {
    const upload = await make({ sha256 });
    await put(upload, Buffer.alloc(bytes.length, 1));
    expect(await refusal(upload)).toMatchObject({ code: 'sha256_mismatch', status: 422 });
    expect((await now(upload)).status).toBe('created');
    await put(upload);
    expect((await completeUpload(jobs.deps, upload)).status).toBe('uploaded');
  });

  it('reads bytes with a wrong sha256 only once, until other bytes are stored', async () => {
    const upload = await make({ sha256 });
    const opened = vi.spyOn(jobs.deps.buckets.ingest, 'open');
    await put(upload, Buffer.alloc(bytes.length, 1));
    const first = await refusal(upload);
    expect(opened).toHaveBeenCalledTimes(1);
    expect(await refusal(await now(upload))).toEqual(first);
    expect(opened).toHaveBeenCalledTimes(1);
    await put(upload, Buffer.alloc(bytes.length, 2));
    expect((await refusal(await now(upload))).details).not.toEqual(first.details);
    await put(upload);
    expect((await completeUpload(jobs.deps, await now(upload))).status).toBe('uploaded');
    opened.mockRestore();
  });

  it('answers 422 and fails a multipart upload whose joined parts have a wrong sha256', async () => {
    const upload = await make({ sha256, ...PARTS });
    await put(upload, Buffer.alloc(bytes.length, 1));
    const error = await refusal(upload);
    expect(error).toMatchObject({ code: 'sha256_mismatch', status: 422 });
    expect(error.message).toContain('Create a new upload');
    expect(error.details).toMatchObject({ sha256, stored_sha256: expect.any(String) });
    const ended = await now(upload);
    expect(ended).toMatchObject({ status: 'failed', error_code: 'sha256_mismatch' });
    expect(await refusal(ended)).toMatchObject({ status: 422, details: error.details });
    expect((await findProject(db, project.project_id))?.reserved_bytes).toBe(0);
    const after = { error_code: 'sha256_mismatch', attempt: 0 };
    expect(await auditEntries(db, project, 'upload.%')).toMatchObject([
      { actor_kind: 'system', action: 'upload.fail', target: upload.upload_id, after },
    ]);
  });

  it('succeeds if the check of the sha256 is left to the worker', async () => {
    const upload = await make({ sha256 });
    await put(upload, Buffer.alloc(bytes.length, 1));
    expect((await completeUpload(jobs.deps, upload, { sha256: 'worker' })).status).toBe('uploaded');
  });
});

describe('completing an upload that has ended', () => {
  it('answers 410 upload_expired with its expires_at if it expired', async () => {
    const upload = await make();
    const late = await expire(upload);
    const error = await refusal(late);
    expect(error).toMatchObject({ code: 'upload_expired', status: 410 });
    expect(error.details).toEqual({ expires_at: late.expires_at.toISOString() });
  });

  it('answers 410 upload_expired if it was aborted since the caller read it', async () => {
    const upload = await make();
    await put(upload);
    await db.transaction((tx) => updateUploadAborted(tx, upload.upload_id));
    expect(await refusal(upload)).toMatchObject({ code: 'upload_expired', status: 410 });
    await jobs.deps.buckets.ingest.delete(upload.ingest_key);
    expect(await refusal(upload)).toMatchObject({
      code: 'upload_expired',
      status: 410,
      message: expect.stringContaining('aborted'),
    });
    expect(jobs.rung).toEqual([]);
  });

  it('answers 422 with its own error_code if it failed', async () => {
    const { upload_id, attempt } = await makeProcessing(db, project);
    const error_code = 'decode_failed';
    await db.transaction((tx) => updateUploadFailed(tx, { upload_id, attempt, error_code }));
    const failed = must(await findUpload(db, upload_id));
    const message = describeProcessingError(error_code, failed.content_type);
    expect(await refusal(failed)).toMatchObject({ code: 'decode_failed', status: 422, message });
    expect(message).toContain('PNG');
  });
});
