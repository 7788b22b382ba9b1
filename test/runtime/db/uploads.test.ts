import { describe, expect, it } from 'vitest';
import { claimUpload } from '../../../runtime/db/claim-upload.ts';
import { findProject, type ProjectRow, updateProject } from '../../../runtime/db/projects.ts';
import {
  updateUploadAborted,
  updateUploadExpired,
  updateUploadWrongSize,
} from '../../../runtime/db/upload-ends.ts';
import {
  listClaimableUploads,
  lockUploadAttempt,
  updateUploadFailed,
  updateUploadLease,
  updateUploadLeasesOver,
  updateUploadReady,
  updateUploadRetry,
} from '../../../runtime/db/upload-processing.ts';
import {
  findProjectUpload,
  findUpload,
  insertUpload,
  listOpenUploads,
  listUploads,
  listUploadsByIngestKey,
  type UploadRow,
  updateUploadUploaded,
} from '../../../runtime/db/uploads.ts';
import { useDatabase } from '../../support/database.ts';
import {
  makeFile,
  makeProcessing,
  makeProject,
  makeUpload,
  must,
  newUpload,
} from '../../support/rows.ts';

const { db } = useDatabase({ maxConnections: 20 });

const reread = async (project: ProjectRow) => must(await findProject(db, project.project_id));
const times = (count: number) => Array.from({ length: count }, (_, index) => index);
/** Moves a time of an upload to an hour ago. */
const lapse = (upload: UploadRow, column: 'expires_at' | 'lease_until' | 'created_at') =>
  db.query(`update uploads set ${column} = now() - interval '1 hour' where upload_id = $1`, [
    upload.upload_id,
  ]);

/** Times are rounded to milliseconds, so one that was just set may still be in the future. */
const nextMillisecond = () => db.query('select pg_sleep(0.002)');

describe('a storage reservation', () => {
  it('of concurrent sessions never exceeds the limit in total', async () => {
    const project = await makeProject(db, { storage_hard_limit_bytes: 10_000 });
    const made = await Promise.all(times(40).map(() => insertUpload(db, newUpload(project))));
    expect(made.filter((upload) => upload !== undefined)).toHaveLength(10);
    expect((await reread(project)).reserved_bytes).toBe(10_000);
  });

  it('is limited by the plan if staff set no limit, and by nothing without a plan', async () => {
    const project = await makeProject(db);
    const plan = { size_bytes: 600, plan_storage_bytes: 1000 };
    expect(await insertUpload(db, newUpload(project, plan))).toBeDefined();
    expect(await insertUpload(db, newUpload(project, plan))).toBeUndefined();
    expect(await insertUpload(db, newUpload(project, { size_bytes: 600 }))).toBeDefined();
  });

  it('takes into account what is already stored', async () => {
    const project = await makeProject(db, { storage_hard_limit_bytes: 1500 });
    await makeFile(db, project);
    expect(await insertUpload(db, newUpload(project))).toBeUndefined();
    expect(await insertUpload(db, newUpload(project, { size_bytes: 500 }))).toBeDefined();
  });

  it('is refused for a suspended project', async () => {
    const project = await makeProject(db);
    await updateProject(db, {
      project_id: project.project_id,
      changes: { status: 'suspended', suspended_by: 'owner' },
    });
    expect(await insertUpload(db, newUpload(project))).toBeUndefined();
  });

  it('is released exactly once, however the upload ends', async () => {
    const project = await makeProject(db);
    const [expired, aborted, wrong] = [
      await makeUpload(db, project),
      await makeUpload(db, project),
      await makeUpload(db, project),
    ];
    const failed = await makeProcessing(db, project);
    expect((await reread(project)).reserved_bytes).toBe(4000);
    await lapse(expired, 'expires_at');
    await lapse(wrong, 'expires_at');
    for (const _ of times(2)) {
      await updateUploadExpired(db, expired.upload_id);
      await updateUploadAborted(db, aborted.upload_id);
      await updateUploadWrongSize(db, wrong.upload_id);
      await updateUploadFailed(db, { ...failed, error_code: 'decode_failed' });
    }
    expect((await reread(project)).reserved_bytes).toBe(0);
    const doomed = await db.query(`select 1 from doomed_objects where object_key like $1`, [
      `${project.project_id}/%`,
    ]);
    expect(doomed).toHaveLength(4);
  });
});

describe('state transitions of an upload', () => {
  it('to uploaded are made by exactly one of several concurrent callers', async () => {
    const upload = await makeUpload(db, await makeProject(db));
    const moved = await Promise.all(
      times(20).map(() => updateUploadUploaded(db, upload.upload_id)),
    );
    expect(moved.filter((row) => row !== undefined)).toHaveLength(1);
  });

  it('to expired wait for expires_at, and never happen to accepted bytes', async () => {
    const project = await makeProject(db);
    const upload = await makeUpload(db, project);
    expect(await updateUploadExpired(db, upload.upload_id)).toBeUndefined();
    await lapse(upload, 'expires_at');
    expect(must(await findUpload(db, upload.upload_id)).is_expired).toBe(true);
    const [uploaded, expired] = await Promise.all([
      updateUploadUploaded(db, upload.upload_id),
      updateUploadExpired(db, upload.upload_id),
    ]);
    expect([uploaded, expired].filter((row) => row !== undefined)).toHaveLength(1);
  });

  it('to a final state schedule its object for deletion once its signed URL has expired', async () => {
    const project = await makeProject(db);
    const [open, over] = [await makeUpload(db, project), await makeUpload(db, project)];
    await lapse(over, 'expires_at');
    await updateUploadAborted(db, open.upload_id);
    await updateUploadExpired(db, over.upload_id);
    await nextMillisecond();
    const due = await db.query(
      `select upload_id, delete_after = expires_at as is_with_url, delete_after <= now() as is_due
       from uploads join doomed_objects on object_key = ingest_key
       where project_id = $1 order by upload_id = $2 desc`,
      [project.project_id, open.upload_id],
    );
    expect(due).toEqual([
      { upload_id: open.upload_id, is_with_url: true, is_due: false },
      { upload_id: over.upload_id, is_with_url: false, is_due: true },
    ]);
  });

  it('release the lease of a killed worker, but not the delay before a retry', async () => {
    const project = await makeProject(db);
    await updateUploadLeasesOver(db, { lease_seconds: 60 });
    const killed = await makeProcessing(db, project);
    const pausing = await makeProcessing(db, project);
    const { upload_id } = pausing;
    await updateUploadRetry(db, { ...pausing, cause: 'failure', delay_seconds: 90 });
    expect(
      await claimUpload(db, { upload_id: killed.upload_id, lease_seconds: 60 }),
    ).toBeUndefined();

    expect(await updateUploadLeasesOver(db, { lease_seconds: 60 })).toBe(1);
    await nextMillisecond();
    const again = await claimUpload(db, { upload_id: killed.upload_id, lease_seconds: 60 });
    expect(again).toMatchObject({ attempt: killed.attempt + 1, excused_count: 1 });
    expect(await claimUpload(db, { upload_id, lease_seconds: 60 })).toBeUndefined();
  });

  it('release an attempt that was already excused without excusing it twice', async () => {
    await updateUploadLeasesOver(db, { lease_seconds: 60 });
    const upload = await makeProcessing(db, await makeProject(db));
    const { upload_id } = upload;
    await updateUploadRetry(db, { ...upload, cause: 'unavailable', delay_seconds: 5 });
    expect(await updateUploadLeasesOver(db, { lease_seconds: 60 })).toBe(1);
    await nextMillisecond();
    const again = await claimUpload(db, { upload_id, lease_seconds: 60 });
    expect(again).toMatchObject({ attempt: 2, excused_count: 1 });
  });

  it('to processing hand each upload to exactly one worker', async () => {
    const project = await makeProject(db);
    for (const _ of times(5)) {
      await updateUploadUploaded(db, (await makeUpload(db, project)).upload_id);
    }
    const claimed = await Promise.all(
      times(12).map(() => claimUpload(db, { upload_id: null, lease_seconds: 60 })),
    );
    const ids = claimed
      .filter((row) => row?.project_id === project.project_id)
      .map((row) => row?.upload_id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBe(5);
  });

  it('to processing count the attempt first, and fence off the previous one', async () => {
    const first = await makeProcessing(db, await makeProject(db));
    expect(first.attempt).toBe(1);
    expect(
      await claimUpload(db, { upload_id: first.upload_id, lease_seconds: 60 }),
    ).toBeUndefined();
    await lapse(first, 'lease_until');
    expect(await listClaimableUploads(db, 100)).toContain(first.upload_id);
    const second = must(await claimUpload(db, { upload_id: first.upload_id, lease_seconds: 60 }));
    expect(second.attempt).toBe(2);
    expect(await updateUploadLease(db, { ...first, lease_seconds: 60 })).toBe(false);
    expect(await updateUploadFailed(db, { ...first, error_code: 'decode_failed' })).toBeUndefined();
    const late = { ...first, file_id: 'file_x', revision: 1 };
    expect(await updateUploadReady(db, late)).toBeUndefined();
    expect(await db.transaction((tx) => lockUploadAttempt(tx, first))).toBeUndefined();
    expect(await db.transaction((tx) => lockUploadAttempt(tx, second))).toBeDefined();
    expect(await updateUploadLease(db, { ...second, lease_seconds: 60 })).toBe(true);
  });

  it('ignore a heartbeat that arrives after its attempt was postponed', async () => {
    const attempt = await makeProcessing(db, await makeProject(db));
    const put = { ...attempt, cause: 'unavailable', delay_seconds: 5 } as const;
    const { lease_until } = must(await updateUploadRetry(db, put));
    expect(await updateUploadLease(db, { ...attempt, lease_seconds: 60 })).toBe(false);
    expect(await findUpload(db, attempt.upload_id)).toMatchObject({ lease_until });
  });

  it('to a later attempt keep the delay and count timeouts', async () => {
    const upload = await makeProcessing(db, await makeProject(db));
    const retried = must(
      await updateUploadRetry(db, { ...upload, delay_seconds: 60, cause: 'timeout' }),
    );
    expect(retried).toMatchObject({ status: 'processing', timeout_count: 1, attempt: 1 });
    expect(
      await claimUpload(db, { upload_id: upload.upload_id, lease_seconds: 60 }),
    ).toBeUndefined();
    await updateUploadRetry(db, { ...retried, delay_seconds: 0, cause: 'failure' });
    const again = must(await claimUpload(db, { upload_id: upload.upload_id, lease_seconds: 60 }));
    expect(again).toMatchObject({ timeout_count: 1, attempt: 2 });
  });

  it.each([
    ['timeout', { timeout_count: 1, excused_count: 0 }],
    ['unavailable', { timeout_count: 0, excused_count: 1 }],
  ] as const)('count a %s once, however often it is reported', async (cause, counted) => {
    const upload = await makeProcessing(db, await makeProject(db));
    for (const _ of times(3)) {
      const retried = await updateUploadRetry(db, { ...upload, delay_seconds: 60, cause });
      expect(retried).toMatchObject({ status: 'processing', attempt: 1, ...counted });
    }
  });
});

describe('uploads are found', () => {
  it('by id, by project and id, and by the key of their stored bytes', async () => {
    const project = await makeProject(db);
    const other = await makeProject(db);
    const { upload_id, ingest_key } = await makeUpload(db, project);
    const { project_id } = project;
    expect((await findUpload(db, upload_id))?.upload_id).toBe(upload_id);
    expect((await findProjectUpload(db, { project_id, upload_id }))?.upload_id).toBe(upload_id);
    const found = await listUploadsByIngestKey(db, [ingest_key, 'none']);
    expect(found.map((row) => row.upload_id)).toEqual([upload_id]);
    const foreign = { project_id: other.project_id, upload_id };
    expect(await findProjectUpload(db, foreign)).toBeUndefined();
  });

  it('in pages, newest first, each once, even if created in the same millisecond', async () => {
    const project = await makeProject(db);
    for (const _ of times(7)) await makeUpload(db, project);
    await db.query('update uploads set created_at = now() where project_id = $1', [
      project.project_id,
    ]);
    const query = { project_id: project.project_id, status: null, limit: 3 };
    const seen: string[] = [];
    let after: string[] | null = null;
    do {
      const page: Awaited<ReturnType<typeof listUploads>> = await listUploads(db, {
        ...query,
        after,
      });
      seen.push(...page.rows.map((row) => row.upload_id));
      after = page.next;
    } while (after !== null);
    expect(seen).toHaveLength(7);
    expect(seen).toEqual([...new Set(seen)].sort().reverse());
    const none = await listUploads(db, { ...query, status: 'ready', after: null });
    expect(none).toEqual({ rows: [], next: null });
  });

  it('by the sweep in order of their ids, once they have reached a minimum age', async () => {
    const project = await makeProject(db);
    const young = await makeUpload(db, project);
    const old = [];
    for (const _ of times(4)) old.push(await makeUpload(db, project));
    for (const each of old) await lapse(each, 'created_at');
    // The order of ids made within one millisecond is random.
    const [first = ''] = [young, ...old].map(({ upload_id }) => upload_id).toSorted();
    const query = { after: first.slice(0, -1), limit: 10, min_age_seconds: 60 };
    const due = (await listOpenUploads(db, query)).map((row) => row.upload_id);
    expect(due).toEqual(old.map(({ upload_id }) => upload_id).toSorted());
  });
});
