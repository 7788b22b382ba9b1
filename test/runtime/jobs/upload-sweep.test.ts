import { createHash } from 'node:crypto';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findProject, type ProjectRow } from '../../../runtime/db/projects.ts';
import { updateUploadAborted } from '../../../runtime/db/upload-ends.ts';
import { updateUploadPutBegan } from '../../../runtime/db/upload-puts.ts';
import {
  findUpload,
  type NewUpload,
  type UploadRow,
  updateUploadUploaded,
} from '../../../runtime/db/uploads.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import { auditEntries } from '../../support/audit-entries.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeFile, makeProcessing, makeProject, makeUpload, must } from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 16 });
const sweep = table['upload-sweep'];
const bytes = Buffer.from('bytes enough');
/** Settings of a multipart upload. An object at its key is the result of joining its parts. */
const PARTS = { storage_upload_id: 's', part_count: 2, part_size: 5_242_880 };
let jobs: TestJobs;
let project: ProjectRow;

beforeEach(async () => {
  await db.query('delete from doomed_objects');
  await db.query(`with ended as (
      update uploads set status = 'failed', error_code = 'decode_failed', lease_until = null
      where status in ('created', 'uploaded', 'processing') returning 1
    ) update projects set reserved_bytes = 0 where reserved_bytes > 0`);
  jobs = await makeJobs(db);
  project = await makeProject(db);
});
afterEach(() => jobs.close());

async function make(settings: Partial<NewUpload> = {}): Promise<UploadRow> {
  const upload = await makeUpload(db, project, { size_bytes: bytes.length, ...settings });
  await db.query(
    `update uploads set created_at = now() - interval '5 minutes' where upload_id = $1`,
    [upload.upload_id],
  );
  return upload;
}

async function expire(upload: UploadRow, ago = '1 second'): Promise<void> {
  await db.query(`update uploads set expires_at = now() - $2::interval where upload_id = $1`, [
    upload.upload_id,
    ago,
  ]);
}

function put(upload: Pick<UploadRow, 'ingest_key'>, body = bytes) {
  return jobs.deps.buckets.ingest.write(upload.ingest_key, body, { content_type: 'image/png' });
}

async function stateOf(upload: UploadRow): Promise<string> {
  const { status, error_code } = must(await findUpload(db, upload.upload_id));
  return error_code === null ? status : `${status} ${error_code}`;
}

async function reserved(): Promise<number> {
  return must(await findProject(db, project.project_id)).reserved_bytes;
}

describe('the upload sweep', () => {
  it('completes an upload whose object arrived without a complete call, and notifies the workers', async () => {
    const upload = await make();
    await put(upload);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 1, expired: 0, failed: 0, errors: 0 });
    expect(await stateOf(upload)).toBe('uploaded');
    await turn();
    expect(jobs.rung).toContain(upload.upload_id);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 0 });
  });

  it('leaves a recent upload to its client', async () => {
    const upload = await makeUpload(db, project, { size_bytes: bytes.length });
    await put(upload);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 0 });
    expect(await stateOf(upload)).toBe('created');
  });

  it('expires an upload without bytes at its expires_at, not before, and releases its reservation', async () => {
    const upload = await make();
    expect(await reserved()).toBe(bytes.length);
    await jobs.run(sweep);
    expect(await stateOf(upload)).toBe('created');
    await expire(upload);
    expect(await jobs.run(sweep)).toMatchObject({ expired: 1 });
    expect(await stateOf(upload)).toBe('expired session_expired');
    expect(await reserved()).toBe(0);
  });

  it('completes an upload past its expires_at if its object is correct', async () => {
    const upload = await make();
    await put(upload);
    await expire(upload, '1 day');
    expect(await jobs.run(sweep)).toMatchObject({ completed: 1, expired: 0 });
  });

  it('accepts no bytes for a suspended project until it is active again or the session expires', async () => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const [woken, late] = [await make({ sha256 }), await make({ sha256 })];
    for (const upload of [woken, late]) await put(upload);
    const setStatus = (status: string, by: string | null) =>
      db.query('update projects set status = $2, suspended_by = $3 where project_id = $1', [
        project.project_id,
        status,
        by,
      ]);
    await setStatus('suspended', 'owner');
    await expire(late);
    const opened = vi.spyOn(jobs.deps.buckets.ingest, 'open');
    expect(await jobs.run(sweep)).toMatchObject({ completed: 0, expired: 1, errors: 0 });
    expect(await stateOf(late)).toBe('expired session_expired');
    expect(await jobs.deps.buckets.ingest.head(late.ingest_key)).toBeUndefined();
    expect(await stateOf(woken)).toBe('created');
    expect(await reserved()).toBe(bytes.length);
    expect(opened, 'bytes that nobody accepts are not read each minute').not.toHaveBeenCalled();
    await setStatus('active', null);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 1, expired: 0 });
    expect(await stateOf(woken)).toBe('uploaded');
  });

  it('fails an expired upload whose object has another size, and deletes the object', async () => {
    const upload = await make();
    await put(upload, Buffer.from('x'));
    expect(await jobs.run(sweep)).toMatchObject({ failed: 0 });
    await expire(upload);
    expect(await jobs.run(sweep)).toMatchObject({ failed: 1, deleted: 1 });
    expect(await stateOf(upload)).toBe('failed ingest_size_mismatch');
    expect(await jobs.deps.buckets.ingest.head(upload.ingest_key)).toBeUndefined();
    expect(await reserved()).toBe(0);
    const after = { error_code: 'ingest_size_mismatch', attempt: 0 };
    expect(await auditEntries(db, project, 'upload.%')).toMatchObject([
      { actor_kind: 'system', action: 'upload.fail', target: upload.upload_id, after },
    ]);
  });

  it('leaves bytes with a wrong sha256 to be sent again until the session expires, then to the worker', async () => {
    const sha256 = createHash('sha256').update('other bytes').digest('hex');
    const upload = await make({ sha256 });
    await put(upload);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 0, errors: 0 });
    expect(await stateOf(upload)).toBe('created');
    await expire(upload);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 1 });
    expect(await stateOf(upload)).toBe('uploaded');
  });

  it('reads bytes with a wrong sha256 only once', async () => {
    const upload = await make({ sha256: createHash('sha256').update('other bytes').digest('hex') });
    await put(upload);
    const opened = vi.spyOn(jobs.deps.buckets.ingest, 'open');
    await jobs.run(sweep);
    expect(opened).toHaveBeenCalledTimes(1);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 0, errors: 0 });
    expect(opened).toHaveBeenCalledTimes(1);
    expect(await stateOf(upload)).toBe('created');
  });

  it('lets a proxy PUT that began in time finish, and expires one that never began', async () => {
    // 160 MB take 10,000 seconds at the least rate that the proxy accepts.
    const settings = { mode: 'proxy', size_bytes: 160_000_000 } as const;
    const [upload, idle] = [await make(settings), await make(settings)];
    await updateUploadPutBegan(db, upload.upload_id);
    const beganAgo = (minutes: number) =>
      db.query(
        'update uploads set put_began_at = now() - make_interval(mins => $2) where upload_id = $1',
        [upload.upload_id, minutes],
      );
    await expire(upload, '150 minutes');
    await expire(idle);
    await beganAgo(160);
    expect(await jobs.run(sweep)).toMatchObject({ expired: 1 });
    expect(await stateOf(upload)).toBe('created');
    await beganAgo(168);
    expect(await jobs.run(sweep)).toMatchObject({ expired: 1 });
  });

  it('lets a proxy PUT finish that began while the session was being checked', async () => {
    for (const body of [undefined, Buffer.from('x')]) {
      const upload = await make({ mode: 'proxy' });
      if (body !== undefined) await put(upload, body);
      await expire(upload);
      const { head } = jobs.deps.buckets.ingest;
      vi.spyOn(jobs.deps.buckets.ingest, 'head').mockImplementationOnce(async (key) => {
        await db.query('update uploads set put_began_at = now() where upload_id = $1', [
          upload.upload_id,
        ]);
        return head(key);
      });
      expect(await jobs.run(sweep)).toMatchObject({ expired: 0, failed: 0, errors: 0 });
      expect(await stateOf(upload)).toBe('created');
      await expire(upload, '1 day');
      await db.query(
        `update uploads set put_began_at = now() - interval '1 day' where upload_id = $1`,
        [upload.upload_id],
      );
      expect(await jobs.run(sweep)).toMatchObject({ errors: 0 });
      expect(await stateOf(upload)).not.toBe('created');
    }
  });

  it('completes a multipart upload whose parts were joined, and expires one whose parts were not', async () => {
    const [joined, late, apart] = [await make(PARTS), await make(PARTS), await make(PARTS)];
    await put(joined);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 1, expired: 0 });
    expect(await stateOf(joined)).toBe('uploaded');
    await put(late);
    await expire(late);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 1, expired: 0 });
    await expire(apart);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 0, expired: 1 });
  });

  it('fails a multipart upload whose joined bytes have a wrong sha256', async () => {
    const sha256 = createHash('sha256').update('other bytes').digest('hex');
    const upload = await make({ ...PARTS, sha256 });
    await put(upload);
    expect(await jobs.run(sweep)).toMatchObject({ failed: 1, completed: 0, errors: 0 });
    expect(await stateOf(upload)).toBe('failed sha256_mismatch');
    expect(await reserved()).toBe(0);
  });

  it('looks at no more uploads once it is aborted', async () => {
    for (let more = 0; more < 20; more += 1) await put(await make());
    const ending = new AbortController();
    const { ingest } = jobs.deps.buckets;
    const head = vi.spyOn(ingest, 'head').mockImplementation(async () => {
      ending.abort(new Error('the process ends'));
      return undefined;
    });
    const context = { ...jobs.deps, at: new Date(), run: 'x', signal: ending.signal };
    await expect(sweep.run(context)).rejects.toThrow('the process ends');
    expect(head.mock.calls.length).toBeLessThanOrEqual(8);
    head.mockRestore();
  });

  it('queues no more notifications than uploads are waiting', async () => {
    for (let more = 0; more < 5; more += 1) {
      await updateUploadUploaded(db, (await make()).upload_id);
    }
    const queue = createInProcessQueue();
    await queue.publish('ingest', { upload_id: 'rings already' });
    const context = { ...jobs.deps, queue, at: new Date(), signal: new AbortController().signal };
    expect(await sweep.run({ ...context, run: 'x' })).toMatchObject({ rung: 4 });
    expect(await sweep.run({ ...context, run: 'y' })).toMatchObject({ rung: 0 });
    const [doorbells] = await queue.depths();
    expect(doorbells).toMatchObject({ waiting: 5 });
    await queue.close();
  });

  it('notifies again for waiting uploads and expired leases, but not for uploads in progress', async () => {
    const waiting = await make();
    await updateUploadUploaded(db, waiting.upload_id);
    const working = await makeProcessing(db, project);
    const lost = await makeProcessing(db, project);
    await db.query(
      `update uploads set lease_until = now() - interval '1 second' where upload_id = $1`,
      [lost.upload_id],
    );
    expect(await jobs.run(sweep)).toMatchObject({ rung: 2 });
    await turn();
    expect(new Set(jobs.rung)).toEqual(new Set([waiting.upload_id, lost.upload_id]));
    expect(jobs.rung).not.toContain(working.upload_id);
  });

  it('continues after an upload that cannot be checked', async () => {
    const broken = await make({ ingest_key: `not a key ${Math.random()}` });
    const fine = await make();
    await put(fine);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 1, errors: 1 });
    expect(await stateOf(broken)).toBe('created');
  });

  it('does everything once when run twice concurrently', async () => {
    const uploads = await Promise.all(Array.from({ length: 30 }, () => make()));
    for (const [index, upload] of uploads.entries()) {
      if (index % 3 === 0) await put(upload);
      if (index % 3 === 1) await put(upload, Buffer.from('x'));
      if (index % 3 !== 0) await expire(upload);
    }
    const runs = await Promise.all([jobs.run(sweep), jobs.run(sweep)]);
    const sum = (name: string) => runs.reduce((total, counts) => total + (counts[name] ?? 0), 0);
    expect(sum('failed')).toBe(10);
    expect(sum('expired')).toBe(10);
    const states = await Promise.all(uploads.map(stateOf));
    expect(states.filter((state) => state === 'uploaded')).toHaveLength(10);
    expect(await reserved()).toBe(10 * bytes.length);
    expect(await jobs.run(sweep)).toMatchObject({ completed: 0, expired: 0, failed: 0 });
    expect(await reserved()).toBe(10 * bytes.length);
  });
});

describe('unneeded objects', () => {
  const doom = (key: string, bucket: 'ingest' | 'content', due: string) =>
    db.query(
      `insert into doomed_objects (bucket, object_key, delete_after) values ($1, $2, now() + $3::interval)`,
      [bucket, key, due],
    );

  it('are deleted from their own bucket after their grace period, together with their row', async () => {
    const { content } = jobs.deps.buckets;
    await content.write('p/due', bytes, { content_type: 'image/png' });
    await content.write('p/later', bytes, { content_type: 'image/png' });
    await doom('p/due', 'content', '-1 second');
    await doom('p/later', 'content', '1 hour');
    expect(await jobs.run(sweep)).toMatchObject({ deleted: 1 });
    expect(await content.head('p/due')).toBeUndefined();
    expect(await content.head('p/later')).toBeDefined();
    const left = await db.query<{ object_key: string }>('select object_key from doomed_objects');
    expect(left.map((row) => row.object_key)).toEqual(['p/later']);
  });

  it('are kept if a live revision serves them, even if scheduled for deletion', async () => {
    const file = await makeFile(db, project);
    const key = 'p/served';
    await jobs.deps.buckets.content.write(key, bytes, { content_type: 'image/png' });
    await db.query('delete from doomed_objects');
    await db.query(
      `insert into doomed_objects (bucket, object_key, file_id, revision, delete_after)
       values ('content', $1, $2, $3, now())`,
      [key, file.file_id, file.revision],
    );
    await jobs.run(sweep);
    expect(await jobs.deps.buckets.content.head(key)).toBeDefined();
  });

  it('stay due if storage fails to delete them', async () => {
    await doom('p/x', 'content', '-1 second');
    const broken = { ...jobs.deps.buckets.content, delete: () => Promise.reject(new Error('no')) };
    const deps = { ...jobs.deps, buckets: { ...jobs.deps.buckets, content: broken } };
    const signal = new AbortController().signal;
    const counts = await sweep.run({ ...deps, at: new Date(), run: 'x', signal });
    expect(counts).toMatchObject({ deleted: 0 });
    expect(await db.query('select 1 from doomed_objects')).toHaveLength(1);
  });

  it('in the ingest bucket are deleted if no open upload uses them and they are an hour old', async () => {
    const live = await make();
    const ended = await make();
    await db.transaction((tx) => updateUploadAborted(tx, ended.upload_id));
    await db.query('delete from doomed_objects');
    await put(live, Buffer.from('x'));
    await put(ended);
    await put({ ingest_key: 'nobody/knows' });
    await put({ ingest_key: 'nobody/young' });
    await age(live.ingest_key, ended.ingest_key, 'nobody/knows');
    expect(await jobs.run(sweep)).toMatchObject({ left_behind: 2 });
    const left = await jobs.deps.buckets.ingest.list({ prefix: '', limit: 10 });
    expect(left.map(({ key }) => key).sort()).toEqual([live.ingest_key, 'nobody/young'].sort());
  });

  async function age(...keys: string[]): Promise<void> {
    const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000);
    for (const key of keys)
      await utimes(join(jobs.storage.folder, 'ingest', key), twoHoursAgo, twoHoursAgo);
  }
});
