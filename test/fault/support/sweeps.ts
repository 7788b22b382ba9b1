/** Runs the sweeps of rows and of both buckets as if more than a day had passed. */
import type { Database } from '../../../runtime/db/client.ts';
import type { JobDeps } from '../../../runtime/jobs/job.ts';
import { runJob } from '../../../runtime/jobs/run-job.ts';
import { type JobName, jobs } from '../../../runtime/jobs/table.ts';
import { noCdn } from '../../../runtime/platform/cdn/cdn.ts';
import { createLog } from '../../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../../runtime/platform/queue/in-process.ts';
import type { TestStorage } from './storages.ts';

type Swept = Pick<TestStorage, 'at'>;

const DAYS_MS = 2 * 24 * 3_600_000;

/** Sweeps a minute later, while no session has expired yet. */
export async function sweepSoon(db: Database, storage: Swept): Promise<void> {
  await db.query(`update uploads set created_at = created_at - interval '1 minute'`);
  await sweep(db, storage, 'upload-sweep');
}

/** Makes everything due that waits for a time, and sweeps. No other process may be working. */
export async function sweepDaysLater(db: Database, storage: Swept): Promise<void> {
  await db.query(
    `update uploads set created_at = created_at - interval '2 days', expires_at = expires_at - interval '2 days',
       put_began_at = put_began_at - interval '2 days'`,
  );
  await sweep(db, storage, 'upload-sweep');
  await db.query('update doomed_objects set delete_after = now()');
  await sweep(db, storage, 'upload-sweep');
  await sweep(db, storage, 'content-sweep');
}

/**
 * Sweeps the objects of both buckets with a clock two days ahead, and leaves the rows' times
 * unchanged.
 */
export async function sweepObjects(db: Database, storage: Swept): Promise<void> {
  await sweep(db, storage, 'upload-sweep');
  await sweep(db, storage, 'content-sweep');
}

async function sweep(db: Database, storage: Swept, name: JobName): Promise<void> {
  const deps = await sweepDeps(db, storage);
  const result = await runJob(deps, { name, job: jobs[name], at: deps.clock.now() });
  if (result.outcome !== 'done') throw new Error(`${name}: ${JSON.stringify(result)}`);
}

/** Returns dependencies whose clock is two days ahead. */
export async function sweepDeps(db: Database, storage: Swept): Promise<JobDeps> {
  const clock = { now: () => new Date(Date.now() + DAYS_MS) };
  const log = createLog({ level: 'silent', name: 'test' });
  const buckets = storage.at(clock);
  // The readiness probe does this regularly.
  await Promise.all([buckets.ingest.check(), buckets.content.check()]);
  const queue = createInProcessQueue({ log });
  return { db, buckets, queue, cdn: noCdn, clock, log };
}
