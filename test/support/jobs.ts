/**
 * The dependencies of jobs and actions in tests: real buckets, a real queue with recorded doorbells, and a manual
 * clock.
 */
import type { Database } from '../../runtime/db/client.ts';
import type { Job, JobContext, JobDeps } from '../../runtime/jobs/job.ts';
import { type Cdn, noCdn } from '../../runtime/platform/cdn/cdn.ts';
import { type Clock, systemClock } from '../../runtime/platform/clock.ts';
import { createLog } from '../../runtime/platform/log.ts';
import { createInProcessQueue } from '../../runtime/platform/queue/in-process.ts';
import { type FolderBuckets, makeFolderBuckets } from './folder-buckets.ts';

export type TestJobs = {
  deps: JobDeps;
  clock: Clock & { set(now: Date): void };
  /** The upload ids of all doorbells received. */
  rung: string[];
  storage: FolderBuckets;
  /** Runs a job without recording the run in the database. */
  run(job: Pick<Job, 'run'>, at?: Date): ReturnType<Job['run']>;
  close(): Promise<void>;
};

export async function makeJobs(db: Database, cdn: Cdn = noCdn): Promise<TestJobs> {
  const storage = makeFolderBuckets();
  const queue = createInProcessQueue();
  const rung: string[] = [];
  await queue.consume('ingest', { slots: 1 }, async (message) => {
    rung.push((message as { upload_id: string }).upload_id);
  });
  let now: Date | undefined;
  const clock = {
    now: () => now ?? systemClock.now(),
    set: (set: Date) => {
      now = set;
    },
  };
  const log = createLog({ level: 'silent', name: 'test' });
  const deps: JobDeps = { db, buckets: storage.buckets, queue, cdn, clock, log };
  let runs = 0;
  const context = (at: Date): JobContext => {
    runs += 1;
    return { ...deps, at, run: `test-${runs}`, signal: new AbortController().signal };
  };
  return {
    deps,
    clock,
    rung,
    storage,
    run: (job, at) => job.run(context(at ?? clock.now())),
    close: async () => {
      await queue.close();
      storage.remove();
    },
  };
}
