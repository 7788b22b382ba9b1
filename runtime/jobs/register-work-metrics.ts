/** Metrics of waiting work in the database and of the last job runs, from the process that runs the frequent jobs. */
import type { Database } from '../db/client.ts';
import { countFailedJobRuns, listDoneJobRuns } from '../db/job-runs.ts';
import { countOverQuota } from '../db/organizations.ts';
import { countPurgesWaiting } from '../db/purges.ts';
import { countChecksUnreviewed, countChecksWaiting } from '../db/scan-claims.ts';
import { countUploadsWaiting } from '../db/uploads-waiting.ts';
import type { Metrics } from '../platform/metrics.ts';
import { jobs } from './table.ts';

const names = Object.keys(jobs);

export function registerWorkMetrics({ db, metrics }: { db: Database; metrics: Metrics }): void {
  metrics.registerSources({
    uploads: () => countUploadsWaiting(db),
    purges: () => countPurgesWaiting(db),
    checks: () => countChecksWaiting(db),
    unreviewed: () => countChecksUnreviewed(db),
    over_quota: () => countOverQuota(db),
    jobs: () => listDoneJobRuns(db, names),
    failed_jobs: () => countFailedJobRuns(db, names),
  });
}
