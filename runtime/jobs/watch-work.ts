/** What waits in the database and what jobs did last: shown by the process that runs the frequent ones. */
import type { Database } from '../db/client.ts';
import { listDoneJobRuns } from '../db/job-runs.ts';
import { countChecksWaiting } from '../db/scan-claims.ts';
import { countUploadsWaiting } from '../db/uploads-waiting.ts';
import type { Metrics } from '../platform/metrics.ts';
import { jobs } from './table.ts';

export function watchWork({ db, metrics }: { db: Database; metrics: Metrics }): void {
  metrics.watch({
    uploads: () => countUploadsWaiting(db),
    checks: () => countChecksWaiting(db),
    jobs: () => listDoneJobRuns(db, Object.keys(jobs)),
  });
}
