import { beforeEach, expect, it } from 'vitest';
import { countUploadsWaiting } from '../../../runtime/db/uploads-waiting.ts';
import { useDatabase } from '../../support/database.ts';
import { makeProcessing, makeProject, makeUpload } from '../../support/rows.ts';

const { db } = useDatabase();

beforeEach(async () => {
  await db.query('truncate uploads cascade');
});

it('only uploads that wait to be processed are counted, with the age of the oldest', async () => {
  expect(await countUploadsWaiting(db)).toEqual({ count: 0, oldest_seconds: 0 });
  const project = await makeProject(db);
  await makeUpload(db, project);
  await makeProcessing(db, project);
  expect((await countUploadsWaiting(db)).count).toBe(0);
  const { upload_id } = await makeUpload(db, project);
  await db.query(
    `update uploads set status = 'uploaded', uploaded_at = now() - interval '90 seconds'
     where upload_id = $1`,
    [upload_id],
  );
  const { count, oldest_seconds } = await countUploadsWaiting(db);
  expect([count, oldest_seconds >= 90]).toEqual([1, true]);
});

it.each([
  ['that was delayed by an outage', 'excused_count = 1'],
  ['whose worker is gone', `lease_until = now() - interval '1 second'`],
])('an upload %s counts as waiting since its bytes arrived', async (_, change) => {
  const { upload_id } = await makeProcessing(db, await makeProject(db));
  await db.query(
    `update uploads set ${change}, uploaded_at = now() - interval '400 seconds' where upload_id = $1`,
    [upload_id],
  );
  const { count, oldest_seconds } = await countUploadsWaiting(db);
  expect([count, oldest_seconds >= 400]).toEqual([1, true]);
});
