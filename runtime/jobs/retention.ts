/**
 * Deletes rows that are no longer needed: usage batches whose sums are final, ended job runs, sent purges, past rate
 * windows, old audit entries, answers to Idempotency-Keys, reads of derived images, status samples, webhook deliveries,
 * and revocations of expired library sessions. Hours, days and the ledger stay.
 * Erases data about images and people from rows that must stay: deleted files and ended uploads.
 */
import { hourOf } from '../core/metering.ts';
import { deleteOldAuditEntries } from '../db/audit-log.ts';
import { deleteOldDerivedReads } from '../db/derived-reads.ts';
import { updateFilesErased, updateUploadsErased } from '../db/erased-rows.ts';
import { deleteOldIdempotencyKeys } from '../db/idempotency-keys.ts';
import { deleteOldJobRuns } from '../db/job-runs.ts';
import { deleteOldRevocations } from '../db/library-sessions.ts';
import { deleteOldPurges } from '../db/purges.ts';
import { deleteOldRateWindows } from '../db/rate-windows.ts';
import { deleteOldStatusSamples } from '../db/status-samples.ts';
import { findRollupMark } from '../db/sweep-positions.ts';
import { deleteOldUsageBatches } from '../db/usage-batches.ts';
import { deleteUsagePartitions, insertUsagePartitions } from '../db/usage-partitions.ts';
import { deleteOldWebhookDeliveries } from '../db/webhook-deliveries.ts';
import { type JobContext, type JobCounts, RUNS_KEPT_DAYS } from './job.ts';
import { retentionStart } from './usage-retention.ts';

const DAY_SECONDS = 24 * 3600;

/**
 * Days of retention. Batches outlive the hours that hourly-rollup still folds, and reads outlive
 * the sweep's queries.
 */
const keptDays = {
  batches: 35,
  job_runs: RUNS_KEPT_DAYS,
  purges: 7,
  rate_windows: 1,
  audit_entries: 730,
  derived_reads: 32,
  status_samples: 7,
  revocations: 1,
  webhook_deliveries: 30,
  deleted_files: 30,
  ended_uploads: 30,
};

/**
 * Usage partitions created ahead: this job may pause for so many days before usage lands outside of
 * daily partitions and must be deleted row by row.
 */
const PARTITIONS_AHEAD = 7;

export async function retention(context: JobContext): Promise<JobCounts> {
  const { db, clock } = context;
  const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY_SECONDS * 1000);
  return {
    ...(await keepUsage(context)),
    job_runs: await deleteOldJobRuns(db, keptDays.job_runs * DAY_SECONDS),
    purges: await deleteOldPurges(db, keptDays.purges * DAY_SECONDS),
    rate_windows: await deleteOldRateWindows(db, keptDays.rate_windows * DAY_SECONDS),
    audit_entries: await deleteOldAuditEntries(db, keptDays.audit_entries * DAY_SECONDS),
    derived_reads: await deleteOldDerivedReads(db, daysAgo(keptDays.derived_reads)),
    webhook_deliveries: await deleteOldWebhookDeliveries(
      db,
      keptDays.webhook_deliveries * DAY_SECONDS,
    ),
    status_samples: await deleteOldStatusSamples(db, daysAgo(keptDays.status_samples)),
    revocations: await deleteOldRevocations(db, keptDays.revocations * DAY_SECONDS),
    idempotency_keys: await deleteOldIdempotencyKeys(db),
    erased_files: await updateFilesErased(db, keptDays.deleted_files * DAY_SECONDS),
    erased_uploads: await updateUploadsErased(db, keptDays.ended_uploads * DAY_SECONDS),
  };
}

/** Before the first sum, deletes nothing. */
async function keepUsage({ db, clock }: JobContext): Promise<JobCounts> {
  const partitions_made = await insertUsagePartitions(db, PARTITIONS_AHEAD);
  const mark = await findRollupMark(db);
  if (mark === undefined) return { partitions_made, partitions: 0, batches: 0 };
  const summed = hourOf(retentionStart(clock.now(), { mark, days: keptDays.batches }));
  const partitions = await deleteUsagePartitions(db, summed);
  return { partitions_made, partitions, batches: await deleteOldUsageBatches(db, summed) };
}
