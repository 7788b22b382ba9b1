/**
 * Changes timestamps to simulate the time that passes after a kill (leases, minimum ages for sweeps, expiries), and
 * runs the jobs that would run in that time.
 */
import type { Dirent } from 'node:fs';
import { readdir, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runJob } from '../../../runtime/jobs/run-job.ts';
import { type JobName, jobs } from '../../../runtime/jobs/table.ts';
import { noCdn } from '../../../runtime/platform/cdn/cdn.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import { INCOMING_FOLDER } from '../../../runtime/platform/storage/object-file.ts';
import type { Tintype } from '../../contract/support/tintype.ts';
import { openFolderBuckets } from '../../support/folder-buckets.ts';
import { untilFound } from '../../support/until-found.ts';
import { type Books, untilEnded } from './client.ts';
import { withDatabase } from './mortal-tintype.ts';

/** Extends leases and ages, so that no upload is taken over before the last kill of a series. */
export async function standStill(tintype: Tintype): Promise<void> {
  await withDatabase(tintype, async (db) => {
    const later = `now() + interval '1 hour'`;
    await db.query(`update uploads set lease_until = ${later} where status = 'processing'`);
    await db.query(`update uploads set created_at = ${later} where status = 'created'`);
  });
}

/** Lets all uploads whose bytes were accepted finish. */
export async function settleUploads(tintype: Tintype, books: Books): Promise<void> {
  await withDatabase(tintype, async (db) => {
    await db.query(
      `update uploads set lease_until = now() - make_interval(secs => 1) where status = 'processing'`,
    );
    await db.query(`update uploads set created_at = now() - interval '1 hour'`);
  });
  await run(tintype, 'upload-sweep');
  for (const uploadId of books.stored) await untilEnded(tintype, uploadId);
}

/** Simulates a day: sessions without bytes expire, and unneeded objects are deleted. */
export async function letADayPass(tintype: Tintype): Promise<void> {
  await withDatabase(tintype, async (db) => {
    await db.query(
      `update uploads set expires_at = now(), put_began_at = null where status = 'created'`,
    );
    await db.query(`update uploads set updated_at = updated_at - interval '1 day'`);
  });
  await run(tintype, 'upload-sweep');
  await withDatabase(tintype, (db) => db.query(`update doomed_objects set delete_after = now()`));
  await run(tintype, 'upload-sweep');
  await age(join(tintype.data, 'storage', 'content'));
  await run(tintype, 'content-sweep');
  await removeHalfWritten(tintype);
}

/** Sweeps ignore objects that were written within the last hour. */
async function age(bucket: string): Promise<void> {
  const dayAgo = new Date(Date.now() - 24 * 3_600_000);
  const entries = await readdir(bucket, { recursive: true, withFileTypes: true });
  const isObject = (one: Dirent) => one.isFile() && basename(one.parentPath) !== INCOMING_FOLDER;
  for (const entry of entries.filter(isObject)) {
    await utimes(join(entry.parentPath, entry.name), dayAgo, dayAgo);
  }
}

/** Removes files whose writing was interrupted, as the readiness check does a day later. */
async function removeHalfWritten({ data }: Tintype): Promise<void> {
  const clock = { now: () => new Date(Date.now() + 25 * 3_600_000) };
  const { ingest, content } = openFolderBuckets(join(data, 'storage'), { clock });
  await Promise.all([ingest.check(), content.check()]);
}

/** Sums usage by hour. */
export function sumUp(tintype: Tintype): Promise<void> {
  return run(tintype, 'hourly-rollup');
}

/** Runs the rollup and the charge as on the next day after midnight. */
export async function charge(tintype: Tintype): Promise<void> {
  await run(tintype, 'hourly-rollup');
  await run(tintype, 'daily-charge', afterMidnight());
}

/** The time at which the current day will be charged. */
export function afterMidnight(): Date {
  const day = new Date(Date.now() + 24 * 3_600_000).toISOString().slice(0, 10);
  return new Date(`${day}T00:20:00Z`);
}

/** Runs a job to its end, after waiting for a run of Tintype's own scheduler. */
async function run(tintype: Tintype, name: JobName, at = new Date()): Promise<void> {
  const log = createLog({ level: 'silent', name: 'test' });
  const buckets = openFolderBuckets(join(tintype.data, 'storage'));
  const queue = createInProcessQueue({ log });
  await untilFound(`a turn for ${name}`, async () => {
    const result = await withDatabase(tintype, (db) =>
      runJob(
        { db, buckets, queue, log, cdn: noCdn, clock: systemClock },
        { name, job: jobs[name], at },
      ),
    );
    if (result.outcome === 'failed') throw result.error;
    return result.outcome === 'done';
  });
}
