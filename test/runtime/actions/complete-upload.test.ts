import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type CompleteUploadOptions,
  completeUpload,
} from '../../../runtime/actions/complete-upload.ts';
import type { ServiceError } from '../../../runtime/core/errors.ts';
import { sayFailure } from '../../../runtime/core/image/failure-sentences.ts';
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

describe('an upload whose object is there', () => {
  it('becomes uploaded and its doorbell rings once, however often it is completed', async () => {
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

  it('is moved by exactly one of twenty at once, and all see the same upload', async () => {
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

  it('completes after its expiry too, as long as nothing ended it', async () => {
    for (const upload of [await make(), await make(PARTS)]) {
      await put(upload);
      const late = await expire(upload);
      expect(await completeUpload(jobs.deps, late)).toMatchObject({ status: 'uploaded' });
    }
  });

  it('is answered as it is once it is processed', async () => {
    const processing = await makeProcessing(db, project);
    expect(await completeUpload(jobs.deps, processing)).toMatchObject({ status: 'processing' });
  });

  it('is answered as it is now, also where its bytes went since the caller read it', async () => {
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

  it('is uploaded also when no queue takes the doorbell', async () => {
    const upload = await make();
    await put(upload);
    const queue = { ...jobs.deps.queue, publish: () => Promise.reject(new Error('no broker')) };
    const moved = await completeUpload({ ...jobs.deps, queue }, upload);
    expect(moved.status).toBe('uploaded');
  });
});

describe('an upload stays created', () => {
  it('while no object is there: 409 ingest_object_missing', async () => {
    const upload = await make();
    expect(await refusal(upload)).toMatchObject({ code: 'ingest_object_missing', status: 409 });
    expect((await now(upload)).status).toBe('created');
  });

  it('while the object has another size: 409 ingest_size_mismatch', async () => {
    const upload = await make();
    await put(upload, Buffer.from('short'));
    expect(await refusal(upload)).toMatchObject({ code: 'ingest_size_mismatch', status: 409 });
    expect((await now(upload)).status).toBe('created');
    expect(jobs.rung).toEqual([]);
  });

  it('while the object has another sha256 than declared: 422, and completes with the right bytes', async () => {
    const upload = await make({ sha256 });
    await put(upload, Buffer.alloc(bytes.length, 1));
    expect(await refusal(upload)).toMatchObject({ code: 'sha256_mismatch', status: 422 });
    expect((await now(upload)).status).toBe('created');
    await put(upload);
    expect((await completeUpload(jobs.deps, upload)).status).toBe('uploaded');
  });

  it('with bytes of another sha256 that are read once, until others came', async () => {
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

  it('not once its parts were joined to bytes of another sha256, which cannot be sent again', async () => {
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

  it('unless the digest is left to the worker', async () => {
    const upload = await make({ sha256 });
    await put(upload, Buffer.alloc(bytes.length, 1));
    expect((await completeUpload(jobs.deps, upload, { sha256: 'worker' })).status).toBe('uploaded');
  });
});

describe('an upload that has ended', () => {
  it('by time answers 410 upload_expired with its expires_at', async () => {
    const upload = await make();
    const late = await expire(upload);
    const error = await refusal(late);
    expect(error).toMatchObject({ code: 'upload_expired', status: 410 });
    expect(error.details).toEqual({ expires_at: late.expires_at.toISOString() });
  });

  it('by an abort stays so for a caller who read it before', async () => {
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

  it('as failed answers 422 with its own error_code', async () => {
    const { upload_id, attempt } = await makeProcessing(db, project);
    const error_code = 'decode_failed';
    await db.transaction((tx) => updateUploadFailed(tx, { upload_id, attempt, error_code }));
    const failed = must(await findUpload(db, upload_id));
    const message = sayFailure(error_code, failed.content_type);
    expect(await refusal(failed)).toMatchObject({ code: 'decode_failed', status: 422, message });
    expect(message).toContain('PNG');
  });
});
