import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  LIBRARY_SESSION_EXPIRES_SECONDS_MAX,
  LIBRARY_SESSION_REFRESH_GRACE_SECONDS_MAX,
} from '../../../runtime/core/limits.ts';
import { upsertDerivedReads } from '../../../runtime/db/derived-reads.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import { listUsageHours } from '../../../runtime/db/usage-hours.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeProject } from '../../support/rows.ts';

const { db } = useDatabase();
const DAY_MS = 86_400_000;
let jobs: TestJobs;

beforeAll(async () => {
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());

const hour = (daysAgo: number) =>
  new Date(Math.floor((Date.now() - daysAgo * DAY_MS) / 3_600_000) * 3_600_000);

it('deletes batches that are summed for good, and never changes a sum by it', async () => {
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

it('deletes ended job runs, sent purges and past rate windows when they are old, and keeps what is open', async () => {
  const { project_id } = await makeProject(db);
  await db.query(`insert into job_runs (job, scheduled_for, started_at, lease_until, finished_at, outcome) values
    ('old', now(), now() - interval '100 days', now(), now() - interval '100 days', 'done'),
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
    job_runs: 1,
    purges: 1,
    rate_windows: 1,
  });
  expect(await jobs.run(table.retention)).toMatchObject({
    job_runs: 0,
    purges: 0,
    rate_windows: 0,
  });
  const left = await db.query<{ job: string }>('select job from job_runs order by job');
  expect(left.map((row) => row.job)).toEqual(['open', 'young']);
});

it('deletes reads of derived images that no sweep asks for any more', async () => {
  const day = (daysAgo: number) =>
    new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10);
  await upsertDerivedReads(db, { keys: ['old'], day: day(33) });
  await upsertDerivedReads(db, { keys: ['young', 'read again'], day: day(31) });
  await upsertDerivedReads(db, { keys: ['read again'], day: day(0) });
  await upsertDerivedReads(db, { keys: ['read again'], day: day(40) });
  expect(await jobs.run(table.retention)).toMatchObject({ derived_reads: 1 });
  const left = await db.query('select derived_key from derived_reads order by derived_key');
  expect(left).toEqual([{ derived_key: 'read again' }, { derived_key: 'young' }]);
});

it('deletes answers to Idempotency-Keys after a day', async () => {
  await db.query(`insert into idempotency_keys
    (caller, project_slug, idempotency_key, request_hash, claim_id, lease_until, created_at) values
    ('c', '', 'old', sha256(''), '1', now(), now() - interval '24 hours'),
    ('c', '', 'young', sha256(''), '2', now(), now() - interval '23 hours')`);
  expect(await jobs.run(table.retention)).toMatchObject({ idempotency_keys: 1 });
  const left = await db.query('select idempotency_key from idempotency_keys');
  expect(left).toEqual([{ idempotency_key: 'young' }]);
});

it('deletes revocations once no session that they ended could still live or be refreshed', async () => {
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

it('deletes however much there is, and only so much in one statement', async () => {
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
