import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { claimUpload } from '../../../runtime/db/claim-upload.ts';
import { updateUploadFailed } from '../../../runtime/db/upload-processing.ts';
import type { UploadRow } from '../../../runtime/db/uploads.ts';
import { jobs as table } from '../../../runtime/jobs/table.ts';
import { mastersOf } from '../../../runtime/platform/storage/content-keys.ts';
import { useDatabase } from '../../support/database.ts';
import { makeJobs, type TestJobs } from '../../support/jobs.ts';
import { makeProcessing, makeProject, must, publish } from '../../support/rows.ts';

const { db } = useDatabase();
let jobs: TestJobs;
let upload: UploadRow;

beforeAll(async () => {
  jobs = await makeJobs(db);
});
afterAll(() => jobs.close());

/** At its second attempt, after a first one that was killed when it had stored its objects. */
beforeEach(async () => {
  const { upload_id } = await makeProcessing(db, await makeProject(db));
  await db.query('update uploads set lease_until = now() where upload_id = $1', [upload_id]);
  upload = must(await claimUpload(db, { upload_id, lease_seconds: 60 }));
  for (const name of ['1-master.png', '1-1024.webp', '2-master.png', '2-1024.webp', '2-exif']) {
    await store(name);
  }
});

const keyOf = (name: string) => `${mastersOf(upload)}${name}`;

function store(name: string) {
  const facts = { content_type: 'image/png' };
  return jobs.deps.buckets.content.write(keyOf(name), Buffer.from(name), facts);
}

async function stored(): Promise<string[]> {
  const { content } = jobs.deps.buckets;
  const objects = await content.list({ prefix: mastersOf(upload), limit: 100 });
  return objects.map(({ key }) => key.slice(mastersOf(upload).length));
}

function publishSecond() {
  const facts = { long_edge: 1024, width: 1024, height: 768, content_type: 'image/webp' };
  return publish(db, upload, {
    object_key: keyOf('2-master.png'),
    mezzanines: [{ ...facts, object_key: keyOf('2-1024.webp'), size_bytes: 10 }],
    metadata: { exif: keyOf('2-exif') },
  });
}

function endedAgo(interval: string) {
  return db.query('update uploads set updated_at = now() - $2::interval where upload_id = $1', [
    upload.upload_id,
    interval,
  ]);
}

it('deletes what a killed attempt stored, and nothing that was published', async () => {
  await publishSecond();
  await endedAgo('2 hours');
  expect(await jobs.run(table.retention)).toMatchObject({ unpublished: 2 });
  expect(await stored()).toEqual(['2-1024.webp', '2-exif', '2-master.png']);
  expect(await jobs.run(table.retention)).toMatchObject({ unpublished: 0 });
});

it('deletes everything that was stored for an upload that failed', async () => {
  const { upload_id, attempt } = upload;
  const failure = { upload_id, attempt, error_code: 'processing_abandoned' } as const;
  await db.transaction((tx) => updateUploadFailed(tx, failure));
  await endedAgo('2 hours');
  expect(await jobs.run(table.retention)).toMatchObject({ unpublished: 5 });
  expect(await stored()).toEqual([]);
});

it('leaves alone what is under way, and what an overtaken attempt may still be writing', async () => {
  await endedAgo('2 hours');
  expect(await jobs.run(table.retention)).toMatchObject({ unpublished: 0 });
  await publishSecond();
  expect(await jobs.run(table.retention)).toMatchObject({ unpublished: 0 });
  expect(await stored()).toHaveLength(5);
});
