// Jobs that work page by page process all pages, however many there are.

import { afterEach, beforeEach, expect, it } from 'vitest';
import { HOUR_MS } from '../../../runtime/core/durations.ts';
import { insertCreditGrant } from '../../../runtime/db/credit-grants.ts';
import { findOrganization } from '../../../runtime/db/organizations.ts';
import { findUpload } from '../../../runtime/db/uploads.ts';
import { insertUsageBatch } from '../../../runtime/db/usage-batches.ts';
import { abortDangling } from '../../../runtime/jobs/content-sweep.ts';
import { dailyCharge } from '../../../runtime/jobs/daily-charge.ts';
import type { JobContext } from '../../../runtime/jobs/job.ts';
import { deleteDoomed, deleteOrphanedObjects } from '../../../runtime/jobs/object-sweep.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { uploadSweep } from '../../../runtime/jobs/upload-sweep.ts';
import { walkBucket } from '../../../runtime/jobs/walk-bucket.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeOrganization, makeProject, makeUpload, must } from '../../support/rows.ts';

const { db } = useDatabase();
const NAMES = ['a', 'b', 'c', 'd', 'e'];
/** The five names fill three pages. */
const [ROWS, OBJECTS] = [{ page_rows: 2 }, { page_max: 2 }];
let jobs: TestJobs;

beforeEach(async () => {
  await db.query('truncate organizations, doomed_objects, sweep_positions cascade');
  jobs = await makeJobs(db);
});
afterEach(() => jobs.close());

const write = (bucket: 'ingest' | 'content', key: string) =>
  jobs.deps.buckets[bucket].write(key, Buffer.from(key), { content_type: 'image/png' });
const isThere = async (bucket: 'ingest' | 'content', key: string) =>
  (await jobs.deps.buckets[bucket].head(key)) !== undefined;
const count = (counted: (context: JobContext) => Promise<number>) =>
  jobs.run({ run: async (context) => ({ count: await counted(context) }) });

it('the daily charge covers every project with usage, even if an organization spans several pages', async () => {
  const { organization_id } = await makeOrganization(db);
  await insertCreditGrant(db, {
    ...{ organization_id, credits: 100, source: 'staff', external_id: 'pages' },
  });
  const entries = [];
  for (const _ of NAMES) {
    const { project_id } = await makeProject(db, { organization_id });
    const window_start = new Date('2026-11-19T05:00:00Z');
    const sums = { requests: 1, bytes: 1, transforms: 1, credits: 3 };
    entries.push({ project_id, window_start, ...sums });
  }
  await insertUsageBatch(db, { spool_id: 'pages', sequence: 1, entries });
  await jobs.run(table['hourly-rollup'], new Date('2026-11-20T00:10:00Z'));
  const run = (context: JobContext) => dailyCharge(context, ROWS);
  expect(await jobs.run({ run }, new Date('2026-11-20T00:20:00Z'))).toMatchObject({ entries: 5 });
  expect(must(await findOrganization(db, organization_id)).credit_balance).toBe(85);
});

it('the upload sweep covers the open uploads on every page', async () => {
  const project = await makeProject(db);
  const uploads = [];
  for (const _ of NAMES) uploads.push(await makeUpload(db, project));
  await db.query(
    `update uploads set created_at = now() - interval '2 hours', expires_at = now() - interval '1 second'`,
  );
  const run = (context: JobContext) => uploadSweep(context, ROWS);
  expect(await jobs.run({ run })).toMatchObject({ expired: 5 });
  for (const { upload_id } of uploads)
    expect(await findUpload(db, upload_id)).toMatchObject({ status: 'expired' });
});

it('objects that are due for deletion are deleted on every page', async () => {
  for (const key of NAMES) await write('content', key);
  await db.query(
    `insert into doomed_objects (bucket, object_key, delete_after)
     select 'content', name, now() - interval '1 second' from unnest($1::text[]) name`,
    [NAMES],
  );
  expect(await count((context) => deleteDoomed(context, OBJECTS))).toEqual({ count: 5 });
  for (const key of NAMES) expect(await isThere('content', key), key).toBe(false);
});

it('unknown objects are deleted from every page of the ingest bucket, even behind one that stays', async () => {
  const { ingest_key } = await makeUpload(db, await makeProject(db));
  for (const key of [...NAMES, ingest_key]) await write('ingest', key);
  jobs.clock.set(new Date(Date.now() + 2 * HOUR_MS));
  expect(await count((context) => deleteOrphanedObjects(context, OBJECTS))).toEqual({ count: 5 });
  for (const key of NAMES) expect(await isThere('ingest', key), key).toBe(false);
  expect(await isThere('ingest', ingest_key)).toBe(true);
});

it('unknown multipart uploads are aborted on every page', async () => {
  const { ingest } = jobs.deps.buckets;
  for (const key of NAMES) await ingest.createMultipart(key, { content_type: 'image/png' });
  jobs.clock.set(new Date(Date.now() + 2 * HOUR_MS));
  expect(await count((context) => abortDangling(context, OBJECTS))).toEqual({ count: 5 });
  expect(await ingest.listMultiparts({ prefix: '', limit: 10 })).toEqual([]);
});

it('a bucket walk reads as many pages as its object limit allows', async () => {
  for (const key of NAMES) await write('content', key);
  jobs.clock.set(new Date(Date.now() + HOUR_MS));
  const pages: string[][] = [];
  const judge = async (objects: { key: string }[]) => {
    pages.push(objects.map(({ key }) => key));
    return [];
  };
  const walk = {
    sweep: 'pages',
    bucket: jobs.deps.buckets.content,
    prefix: '',
    grace_ms: 0,
    judge,
  };
  await count((context) => walkBucket(context, { ...walk, ...OBJECTS, objects_max: 3 }));
  expect(pages).toEqual([['a', 'b'], ['c']]);
});
