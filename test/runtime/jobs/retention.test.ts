import { afterAll, beforeAll, expect, it } from 'vitest';
import { DAY_MS } from '../../../runtime/core/durations.ts';
import {
  LIBRARY_SESSION_EXPIRES_SECONDS_MAX,
  LIBRARY_SESSION_REFRESH_GRACE_SECONDS_MAX,
} from '../../../runtime/core/limits.ts';
import { upsertDerivedReads } from '../../../runtime/db/derived-reads.ts';
import { updateFilesErased } from '../../../runtime/db/erased-rows.ts';
import { deleteFile } from '../../../runtime/db/file-revisions.ts';
import { findFileById } from '../../../runtime/db/files.ts';
import { updateUploadAborted } from '../../../runtime/db/upload-ends.ts';
import { findUpload } from '../../../runtime/db/uploads.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import { listUsageHours } from '../../../runtime/db/usage-hours.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { noting } from '../../support/explaining.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import {
  makeFile,
  makeProcessing,
  makeProject,
  makeUpload,
  must,
  publish,
} from '../../support/rows.ts';

const { db } = useDatabase();
let jobs: TestJobs;

beforeAll(async () => {
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());

const hour = (daysAgo: number) =>
  new Date(Math.floor((Date.now() - daysAgo * DAY_MS) / 3_600_000) * 3_600_000);

it('retention deletes batches that are summed for good, without changing any sum', async () => {
  const { project_id } = await makeProject(db);
  const sum = { requests: 1, bytes: 1, transforms: 0 };
  const batches = [
    { old: 40, also: 39 },
    { old: 40, also: 2 },
    { old: 20, also: 20 },
  ];
  for (const [sequence, { old, also }] of batches.entries()) {
    const windows = new Set([hour(old).getTime(), hour(also).getTime()]);
    const entries = [...windows].map((window) => ({
      ...sum,
      project_id,
      window_start: new Date(window),
      credits: sequence + 1,
    }));
    await insertUsageBatch(db, { spool_id: 'r', sequence, entries });
  }
  await jobs.run(table['hourly-rollup']);
  await db.query(`update usage_batches set received_at = now() - interval '38 days'`);
  const range = { project_ids: [project_id], from: hour(50), to: new Date() };
  const before = await listUsageHours(db, range);
  expect(await jobs.run(table.retention)).toMatchObject({ batches: 1 });
  await jobs.run(table['hourly-rollup']);
  await jobs.run(table['hourly-rollup']);
  expect(await listUsageHours(db, range)).toEqual(before);
  expect(await jobs.run(table.retention)).toMatchObject({ batches: 0 });
});

it('retention deletes old job runs, purges and rate windows, but no open ones nor the last success', async () => {
  const { project_id } = await makeProject(db);
  await db.query(`insert into job_runs (job, scheduled_for, started_at, lease_until, finished_at, outcome) values
    ('old', now(), now() - interval '101 days', now(), now() - interval '101 days', 'done'),
    ('old', now(), now() - interval '100 days', now(), now() - interval '100 days', 'done'),
    ('failing', now(), now() - interval '100 days', now(), now() - interval '100 days', 'failed'),
    ('young', now(), now(), now(), now(), 'done'),
    ('open', now(), now() - interval '100 days', now(), null, null)`);
  await db.query(
    `insert into purges (project_id, reason, sent_at) values
     ($1, 'old', now() - interval '8 days'), ($1, 'young', now()), ($1, 'open', null)`,
    [project_id],
  );
  await db.query(`insert into rate_windows (scope, subject, window_start, count) values
    ('s', 'old', now() - interval '2 days', 1), ('s', 'young', now(), 1)`);
  expect(await jobs.run(table.retention)).toMatchObject({
    job_runs: 2,
    purges: 1,
    rate_windows: 1,
  });
  expect(await jobs.run(table.retention)).toMatchObject({
    job_runs: 0,
    purges: 0,
    rate_windows: 0,
  });
  const left = await db.query<{ job: string }>('select job from job_runs order by job');
  // The newest success stays, because missed runs are counted from it.
  expect(left.map((row) => row.job)).toEqual(['old', 'open', 'young']);
});

it('retention deletes webhook deliveries a month after their last attempt, but none still to be sent', async () => {
  const { project_id } = await makeProject(db);
  await db.query(
    `insert into webhook_deliveries (delivery_id, project_id, event, body, url, status, next_attempt_at, created_at, updated_at)
     select name, $1, 'upload.ready', '{}', 'https://a.example', status, due,
       now() - make_interval(days => age), now() - make_interval(days => tried)
     from (values ('old', 'abandoned', null, 90, 31), ('young', 'abandoned', null, 1, 1),
       ('sent late', 'abandoned', null, 90, 1), ('due', 'pending', now(), 90, 90))
       told (name, status, due, age, tried)`,
    [project_id],
  );
  expect(await jobs.run(table.retention)).toMatchObject({ webhook_deliveries: 1 });
  const left = await db.query<{ delivery_id: string }>(
    'select delivery_id from webhook_deliveries',
  );
  const names = left.map(({ delivery_id }) => delivery_id);
  expect(names.toSorted()).toEqual(['due', 'sent late', 'young']);
});

it('retention deletes read dates of derived images that the sweep no longer needs', async () => {
  const days = { old: 33, young: 31, 'read again': 33, ahead: -1 };
  await db.query(
    `insert into derived_reads (derived_key, read_on)
     select key, (now() at time zone 'utc')::date - ago from unnest($1::text[], $2::integer[]) told (key, ago)`,
    [Object.keys(days), Object.values(days)],
  );
  await upsertDerivedReads(db, ['read again', 'ahead']);
  expect(await jobs.run(table.retention)).toMatchObject({ derived_reads: 1 });
  const left = await db.query(
    `select derived_key, (now() at time zone 'utc')::date - read_on as ago from derived_reads order by derived_key`,
  );
  expect(left).toEqual([
    { derived_key: 'ahead', ago: -1 },
    { derived_key: 'read again', ago: 0 },
    { derived_key: 'young', ago: 31 },
  ]);
});

it('retention deletes idempotency keys after a day', async () => {
  await db.query(`insert into idempotency_keys
    (caller, project_slug, idempotency_key, request_hash, claim_id, lease_until, created_at) values
    ('c', '', 'old', sha256(''), '1', now(), now() - interval '24 hours'),
    ('c', '', 'young', sha256(''), '2', now(), now() - interval '23 hours')`);
  expect(await jobs.run(table.retention)).toMatchObject({ idempotency_keys: 1 });
  const left = await db.query('select idempotency_key from idempotency_keys');
  expect(left).toEqual([{ idempotency_key: 'young' }]);
});

it('retention deletes revocations once no session that they ended could be alive or refreshed', async () => {
  const { project_id } = await makeProject(db);
  const life = LIBRARY_SESSION_EXPIRES_SECONDS_MAX + LIBRARY_SESSION_REFRESH_GRACE_SECONDS_MAX;
  await db.query(
    `insert into library_session_revocations (project_id, uploader, revoked_at) values
     ($1, 'old', now() - interval '2 days'),
     ($1, 'ended last', now() - make_interval(secs => $2)),
     ($1, 'young', now() - interval '1 minute')`,
    [project_id, life],
  );
  expect(await jobs.run(table.retention)).toMatchObject({ revocations: 1 });
  const left = await db.query<{ uploader: Buffer }>(
    'select uploader from library_session_revocations order by revoked_at',
  );
  expect(left.map(({ uploader }) => uploader.toString())).toEqual(['ended last', 'young']);
});

it('retention deletes any number of rows, a limited number per statement', async () => {
  await db.query(`create function refuse_many() returns trigger language plpgsql as $$
    begin
      if (select count(*) from gone) > 10000 then raise 'too many at once'; end if;
      return null;
    end $$`);
  await db.query(`create trigger few_at_once after delete on audit_log referencing old table as gone
    for each statement execute function refuse_many()`);
  await db.query(`insert into audit_log (actor_kind, action, created_at)
    select 'system', 'old', now() - interval '3 years' from generate_series(1, 25000)`);
  await db.query(`insert into audit_log (actor_kind, action) values ('system', 'young')`);
  expect(await jobs.run(table.retention)).toMatchObject({ audit_entries: 25_000 });
  expect(await db.query('select action from audit_log')).toEqual([{ action: 'young' }]);
});

const personalData = {
  title: 'Ann at home',
  original_filename: 'ann.jpg',
  uploader: Buffer.from('ann'),
};
const ERASED_UPLOAD = { title: null, original_filename: null, uploader: null };
const ERASED_FILE = {
  ...{ ...ERASED_UPLOAD, alt_text: null, folder: '', thumb_hash: null },
  ...{ taken_at: null, latitude: null, longitude: null },
};

async function makeToldFile(project: { project_id: string }, file_slug: string) {
  const upload = await makeProcessing(db, project, {
    ...personalData,
    file_slug,
    folder: 'people/ann',
  });
  const place = { latitude: 52.5, longitude: 13.4, taken_at: new Date(), thumb_hash: Buffer.of(1) };
  const { file_id } = await publish(db, upload, place);
  await db.query(`update files set alt_text = 'Ann' where file_id = $1`, [file_id]);
  return { file_id, upload_id: upload.upload_id };
}

const fileRow = async (file_id: string) => must(await findFileById(db, file_id));
const uploadRow = async (upload_id: string) => must(await findUpload(db, upload_id));

it('retention erases personal data from files that were deleted 30 days ago, and nothing else', async () => {
  const project = await makeProject(db);
  const [old, young, live] = await Promise.all(
    ['old', 'young', 'live'].map((slug) => makeToldFile(project, slug)),
  );
  const first = must(old);
  await makeFile(db, project, { file_slug: 'old' });
  for (const file_slug of ['old', 'young']) {
    await db.transaction((tx) => deleteFile(tx, { ...project, file_slug }));
  }
  await db.query(
    `update files set blocked_by = 'staff', blocked_reason = 'no', blocked_at = now(), block_count = 1,
       deleted_at = deleted_at - interval '31 days' where file_id = $1`,
    [first.file_id],
  );
  const before = await fileRow(first.file_id);
  const upload = await uploadRow(first.upload_id);
  expect(await jobs.run(table.retention)).toMatchObject({ erased_files: 1, erased_uploads: 0 });
  const after = await fileRow(first.file_id);
  expect(after).toEqual({ ...before, ...ERASED_FILE, erased_at: after.erased_at });
  expect(after.erased_at).toBeInstanceOf(Date);
  const { remaining_seconds: _, ...kept } = upload;
  expect(await uploadRow(first.upload_id)).toMatchObject({ ...kept, ...ERASED_UPLOAD, folder: '' });
  expect(
    await db.query('select 1 from file_revisions where file_id = $1 and thumb_hash is not null', [
      first.file_id,
    ]),
  ).toEqual([]);
  for (const each of [must(young), must(live)]) {
    expect(await fileRow(each.file_id)).toMatchObject({ ...personalData, folder: 'people/ann' });
    expect(await uploadRow(each.upload_id)).toMatchObject(personalData);
  }
  expect(await jobs.run(table.retention)).toMatchObject({ erased_files: 0 });
  const next = await makeFile(db, project, { file_slug: 'old' });
  expect(next).toMatchObject({ status: 'blocked', blocked_reason: 'no', title: null });
});

it('retention erases personal data from uploads that ended 30 days ago, but not from their files', async () => {
  const project = await makeProject(db);
  const ready = await makeToldFile(project, 'ready');
  const place = { ...personalData, folder: 'people/ann', library_session_id: 'ls' };
  const failed = await makeUpload(db, project, place);
  const open = await makeUpload(db, project, place);
  await db.transaction((tx) => updateUploadAborted(tx, failed.upload_id));
  await db.query(
    `update uploads set updated_at = now() - interval '31 days' where project_id = $1`,
    [project.project_id],
  );
  const { updated_at } = await uploadRow(failed.upload_id);
  expect(await jobs.run(table.retention)).toMatchObject({ erased_uploads: 2 });
  expect(await uploadRow(failed.upload_id)).toMatchObject({
    ...ERASED_UPLOAD,
    ...{ folder: '', library_session_id: 'ls', updated_at },
  });
  expect(await uploadRow(ready.upload_id)).toMatchObject({
    ...ERASED_UPLOAD,
    folder: 'people/ann',
  });
  expect(await uploadRow(open.upload_id)).toMatchObject(place);
  expect(await fileRow(ready.file_id)).toMatchObject({ ...personalData, folder: 'people/ann' });
  expect(await jobs.run(table.retention)).toMatchObject({ erased_uploads: 0 });
});

it('files are erased in batches until none is left, however many revisions they have', async () => {
  const project = await makeProject(db);
  const uploads: string[] = [];
  for (const file_slug of ['a', 'b', 'b', 'b', 'b', 'b', 'c', 'd']) {
    uploads.push((await makeToldFile(project, file_slug)).upload_id);
  }
  for (const file_slug of ['a', 'b', 'c', 'd']) {
    await db.transaction((tx) => deleteFile(tx, { ...project, file_slug }));
  }
  const { db: noted, statements } = noting(db);
  expect(await updateFilesErased(noted, -1, 2)).toBeGreaterThanOrEqual(4);
  // No statement names more than two rows, or a range of more than two revisions.
  for (const { values } of statements) {
    const [ids, first, last] = values as [unknown, number, number];
    if (Array.isArray(ids)) expect(ids.length).toBeLessThanOrEqual(2);
    if (values.length === 3) expect(last - first).toBe(1);
  }
  const { project_id } = project;
  const left = await db.query<{ file_slug: string }>(
    `select file_slug from files where project_id = $1 and (erased_at is null or title is not null)
     union all select file_slug from uploads where project_id = $1 and title is not null
     union all select object_key from file_revisions r join files using (file_id)
       where project_id = $1 and r.thumb_hash is not null`,
    [project_id],
  );
  expect(left).toEqual([]);
  for (const upload_id of uploads) expect(await uploadRow(upload_id)).toMatchObject({ folder: '' });
  expect(await updateFilesErased(db, -1, 2)).toBe(0);
});
