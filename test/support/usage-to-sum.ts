/** Usage of one project and the jobs that sum it up, for tests of late and long-kept batches. */

import { afterAll, beforeAll, beforeEach } from 'vitest';
import { HOUR_MS } from '../../runtime/core/durations.ts';
import type { Database, Queryable } from '../../runtime/db/client.ts';
import { insertUsageBatch } from '../../runtime/db/usage-batches.ts';
import { type JobRunResult, runJob } from '../../runtime/jobs/run-job.ts';
import { jobs as table } from '../../runtime/jobs/table.ts';
import { makeJobs, type TestJobs } from './jobs.ts';
import { makeProject } from './rows.ts';

export const hoursAgo = (hours: number) =>
  new Date((Math.floor(Date.now() / HOUR_MS) - hours) * HOUR_MS);

export type UsageToSum = {
  jobs: () => TestJobs;
  /** A new project for each test. */
  project_id: () => string;
  /** Sends a batch with one request in each of these hours. */
  send(to: Queryable, ...windows: Date[]): Promise<boolean>;
  /** Runs the job like the scheduler, and records the run. */
  runRollup(): Promise<JobRunResult>;
  /** The request count of each summed hour, oldest first. */
  requests(): Promise<number[]>;
  charges(): Promise<{ delta: number }[]>;
};

export function useUsage(db: Database): UsageToSum {
  let jobs: TestJobs;
  let project_id: string;
  let sequence = 0;
  beforeAll(async () => {
    jobs = await makeJobs(db);
  });
  afterAll(() => jobs.close());
  beforeEach(async () => {
    jobs.clock.set(new Date());
    await db.query('truncate usage_batches, usage_batch_rows, usage_hours, sweep_positions');
    ({ project_id } = await makeProject(db));
  });
  const own = <Row>(select: string) => db.query<Row>(select, [project_id]);
  return {
    jobs: () => jobs,
    project_id: () => project_id,
    send: (to, ...windows) => {
      sequence += 1;
      const sums = { project_id, requests: 1, bytes: 1, transforms: 0, credits: 1 };
      const entries = windows.map((window_start) => ({ ...sums, window_start }));
      return insertUsageBatch(to, { spool_id: 'spl_late', sequence, entries });
    },
    runRollup: () =>
      runJob(jobs.deps, {
        ...{ name: 'hourly-rollup', job: table['hourly-rollup'] },
        at: jobs.clock.now(),
      }),
    requests: async () => {
      const rows = await own<{ requests: number }>(
        'select requests from usage_hours where project_id = $1 order by window_start',
      );
      return rows.map((row) => row.requests);
    },
    charges: () => own('select delta from ledger where project_id = $1 order by 1'),
  };
}
