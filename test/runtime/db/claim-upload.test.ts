import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { claimUpload, claimUploadBeside, wasLost } from '../../../runtime/db/claim-upload.ts';
import type { ProjectRow } from '../../../runtime/db/projects.ts';
import { updateUploadRetry } from '../../../runtime/db/upload-processing.ts';
import { updateUploadUploaded } from '../../../runtime/db/uploads.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProcessing, makeProject, makeUpload, must } from '../../support/rows.ts';

const { db } = useDatabase({ queryTimeoutMs: 60_000 });

async function leaveNothingWaiting(): Promise<void> {
  await db.query(
    `update uploads set status = 'processing', lease_until = now() + interval '1 day'
     where status in ('uploaded', 'processing')`,
  );
}

async function makeWaiting(project: ProjectRow): Promise<string> {
  const { upload_id } = await makeUpload(db, project);
  await updateUploadUploaded(db, upload_id);
  return upload_id;
}

/** Ten thousand uploads of one project, waiting since yesterday. */
async function makeCrowd(project: ProjectRow): Promise<void> {
  await db.query(
    `with counted as (
       update projects set reserved_bytes = reserved_bytes + 10000 where project_id = $1
     )
     insert into uploads (upload_id, project_id, file_slug, status, mode, content_type, size_bytes, ingest_key,
       expires_at, uploaded_at)
     select 'upl_0' || left(md5($1 || n), 25), $1, 'crowd-' || n, 'uploaded', 'direct', 'image/png', 1, $1 || '/crowd/' || n,
       now() + interval '1 hour', now() - interval '1 day' + n * interval '1 second'
     from generate_series(1, 10000) n`,
    [project.project_id],
  );
  await db.query('analyze uploads');
}

const claim = async () => must(await claimUpload(db, { upload_id: null, lease_seconds: 60 }));

describe('the next upload', () => {
  // Leases uploads left by earlier tests for longer than the tests run.
  beforeEach(leaveNothingWaiting);

  it('alternates between projects, oldest first within each', async () => {
    const projects = [await makeProject(db), await makeProject(db), await makeProject(db)];
    const waiting = new Map<string, string[]>();
    for (const project of projects) {
      const uploads = [await makeWaiting(project), await makeWaiting(project)];
      waiting.set(project.project_id, uploads);
    }
    const claimed = [];
    for (let turn = 0; turn < 6; turn += 1) claimed.push(await claim());
    const order = claimed.map(({ project_id }) => project_id);
    expect(new Set(order.slice(0, 3)).size).toBe(3);
    expect(order.slice(3)).toEqual(order.slice(0, 3));
    for (const [project_id, uploads] of waiting) {
      const own = claimed.filter((upload) => upload.project_id === project_id);
      expect(own.map(({ upload_id }) => upload_id)).toEqual(uploads);
    }
    expect(await claimUpload(db, { upload_id: null, lease_seconds: 60 })).toBeUndefined();
  });

  it('may be one whose retry is due, but never one whose retry delay lasts', async () => {
    const project = await makeProject(db);
    const pausing = await makeProcessing(db, project);
    await updateUploadRetry(db, { ...pausing, cause: 'failure', delay_seconds: 60 });
    const lapsed = await makeProcessing(db, project);
    await updateUploadRetry(db, { ...lapsed, cause: 'failure', delay_seconds: 0 });
    const upload = await makeWaiting(project);
    expect((await claim()).upload_id).toBe(lapsed.upload_id);
    expect((await claim()).upload_id).toBe(upload);
    expect(await claimUpload(db, { upload_id: null, lease_seconds: 60 })).toBeUndefined();
  });

  it('is one that timed out before only while no other such upload of its project is in progress', async () => {
    const [project, other] = [await makeProject(db), await makeProject(db)];
    const slow = async (of: ProjectRow) => {
      const attempt = await makeProcessing(db, of);
      await updateUploadRetry(db, { ...attempt, cause: 'timeout', delay_seconds: 0 });
      return attempt.upload_id;
    };
    const mine = [await slow(project), await slow(project)];
    const theirs = await slow(other);
    const failed = await makeProcessing(db, project);
    await updateUploadRetry(db, { ...failed, cause: 'failure', delay_seconds: 0 });
    const first = [await claim(), await claim(), await claim()];
    const [held] = first.filter(({ upload_id }) => mine.includes(upload_id));
    expect(first.map(({ upload_id }) => upload_id).toSorted()).toEqual(
      [held?.upload_id, theirs, failed.upload_id].toSorted(),
    );
    expect(await claimUpload(db, { upload_id: null, lease_seconds: 60 })).toBeUndefined();
    await updateUploadRetry(db, { ...must(held), cause: 'timeout', delay_seconds: -1 });
    expect(mine).toContain((await claim()).upload_id);
    expect(await claimUpload(db, { upload_id: null, lease_seconds: 60 })).toBeUndefined();
  });

  it('is never one that timed out before if only quick ones are requested', async () => {
    const slow = await makeProcessing(db, await makeProject(db));
    await updateUploadRetry(db, { ...slow, cause: 'timeout', delay_seconds: 0 });
    const failed = await makeProcessing(db, await makeProject(db));
    await updateUploadRetry(db, { ...failed, cause: 'failure', delay_seconds: 0 });
    const waiting = await makeWaiting(await makeProject(db));
    const quick = () => claimUpload(db, { upload_id: null, lease_seconds: 60, among: 'quick' });
    const claimed = [must(await quick()).upload_id, must(await quick()).upload_id];
    expect(claimed.toSorted()).toEqual([failed.upload_id, waiting].toSorted());
    expect(await quick()).toBeUndefined();
    expect((await claim()).upload_id).toBe(slow.upload_id);
  });

  it('is not claimed beside others if an attempt was lost, and no other is in its place', async () => {
    const project = await makeProject(db);
    const beside = () => claimUploadBeside(db, { upload_id: null, lease_seconds: 60 });
    const failed = await makeProcessing(db, project);
    await updateUploadRetry(db, { ...failed, cause: 'failure', delay_seconds: -1 });
    const again = await beside();
    expect(again).toMatchObject({ upload_id: failed.upload_id, attempt: 2, put_off_count: 1 });
    expect(again !== undefined && again !== 'reserved' && wasLost(again)).toBe(false);
    const lost = await makeProcessing(db, project);
    await db.query('update uploads set lease_until = now() where upload_id = $1', [lost.upload_id]);
    await makeWaiting(project);
    const other = await makeWaiting(await makeProject(db));
    expect(await beside()).toMatchObject({ upload_id: other });
    expect([await beside(), await beside()]).toEqual(['reserved', 'reserved']);
    const alone = await claim();
    expect(alone).toMatchObject({ upload_id: lost.upload_id, attempt: 2 });
    expect(wasLost(alone)).toBe(true);
    // It stays so after a failure on record.
    await updateUploadRetry(db, { ...alone, cause: 'failure', delay_seconds: -1 });
    expect(await beside()).toBe('reserved');
  });

  it('goes to exactly one of many concurrent workers, until none is left', async () => {
    const projects = [await makeProject(db), await makeProject(db)];
    const uploads: string[] = [];
    for (const project of projects) {
      for (let n = 0; n < 6; n += 1) uploads.push(await makeWaiting(project));
    }
    const rows = await Promise.all(
      Array.from({ length: 20 }, () => claimUpload(db, { upload_id: null, lease_seconds: 60 })),
    );
    const claimed = rows.flatMap((row) => row?.upload_id ?? []);
    expect(new Set(claimed).size).toBe(claimed.length);
    expect(claimed.toSorted()).toEqual(uploads.toSorted());
  });
});

describe('the next upload while 10,000 of one project are waiting', () => {
  let crowded: ProjectRow;
  beforeAll(async () => {
    crowded = await makeProject(db);
    await makeCrowd(crowded);
  });

  it('of another project waits behind at most one of them', async () => {
    const quiet = await makeProject(db);
    const seen: string[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      seen.push((await claim()).project_id);
      const upload = await makeWaiting(quiet);
      const next = [await claim(), await claim()];
      expect(next.map(({ upload_id }) => upload_id)).toContain(upload);
    }
    expect(new Set(seen)).toEqual(new Set([crowded.project_id]));
  });

  it('is found without reading all that are waiting', async () => {
    const before = await tuplesRead();
    for (let turn = 0; turn < 10; turn += 1) await claim();
    const read = (await tuplesRead()) - before;
    // Each claim also reads the uploads being processed, including those of earlier tests.
    expect(read).toBeLessThan(10 * (50 + (await countInHand())));
  });
});

/** Uploads being processed, of all tests so far. */
async function countInHand(): Promise<number> {
  const rows = await db.query(`select from uploads where status = 'processing'`);
  return rows.length;
}

async function tuplesRead(): Promise<number> {
  await db.query('select pg_stat_force_next_flush()');
  const [row] = await db.query<{ read: number }>(
    `select (seq_tup_read + idx_tup_fetch)::float8 as read from pg_stat_user_tables where relname = 'uploads'`,
  );
  return row?.read ?? Number.NaN;
}
