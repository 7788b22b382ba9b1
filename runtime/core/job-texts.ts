/** What each job does, and what it counts, for people: help, the reference, and the labels `what` of the metrics. */
import type { manualJobNames, schedules } from './schedules.ts';

export type JobText = {
  /** Completes "the job …". */
  readonly does: string;
  /** The meaning of each count of a run. */
  readonly counts: Readonly<Record<string, string>>;
};

export const jobTexts = {
  'upload-sweep': {
    does: 'completes uploads whose bytes arrived, ends expired ones, deletes objects that nothing needs',
    counts: {
      completed: 'uploads whose bytes had arrived without a complete call',
      expired: 'uploads that ended without their bytes',
      failed: 'uploads that ended with wrong bytes',
      errors: 'uploads that could not be checked; the next run tries again',
      rung: 'messages sent again to workers, for uploads that wait for one',
      deleted: 'objects deleted that an ended upload or a deleted file had left',
      left_behind: 'objects deleted from the upload bucket that belong to no upload',
    },
  },
  'purge-queue': {
    does: 'sends due purges to the CDN',
    counts: {
      sent: 'purges that the CDN accepted',
      failed: 'purges that it refused; they are retried',
    },
  },
  'webhook-delivery': {
    does: 'sends due webhooks, mainly retries',
    counts: {
      delivered: 'webhooks that were acknowledged',
      failed: 'attempts that failed and are retried',
      abandoned: 'webhooks whose last attempt failed',
    },
  },
  'status-sampling': {
    does: 'checks each service for the status page, opens and ends incidents',
    counts: {
      good: 'services that work',
      failed: 'services that do not; the log has the cause',
      unknown:
        'services that cannot be checked from this process; at level debug the log names them',
    },
  },
  'hourly-rollup': {
    does: 'sums deliveries by the hour',
    counts: { hours: 'hours summed', changed: 'sums that differ from the previous run' },
  },
  'daily-charge': {
    does: 'charges the days that are over, and updates quotas',
    counts: {
      organizations: 'organizations looked at',
      entries: 'entries written to the ledger',
      credits: 'credits charged',
      exceeded: 'organizations that went over their quota',
      restored: 'organizations that are within their quota again',
    },
  },
  reconciliation: {
    does: 'compares deliveries, sums and charges, and logs differences',
    counts: {
      days: 'days of projects compared',
      differing: 'those that do not add up',
      missing_batches: 'batches of usage that a delivery server never sent',
      lost_deliveries: 'deliveries in them',
    },
  },
  'content-sweep': {
    does: 'deletes images that no file needs',
    counts: {
      masters: 'published images deleted that belong to no file',
      derived: 'derived images deleted that are outdated or were not read for a month',
      multiparts: 'multipart uploads aborted that belong to no upload',
    },
  },
  retention: {
    does: 'deletes rows that are no longer needed, and erases those that must stay',
    counts: {
      partitions_made: 'daily partitions of usage made ahead',
      partitions: 'daily partitions of usage dropped',
      batches: 'batches of usage deleted outside of them',
      job_runs: 'ended job runs deleted',
      purges: 'sent purges deleted',
      rate_windows: 'past windows of rate limits deleted',
      audit_entries: 'entries of the audit log deleted',
      derived_reads: 'notes deleted of when a derived image was read',
      webhook_deliveries: 'webhook deliveries deleted',
      status_samples: 'samples of the status page deleted',
      revocations: 'revocations of expired library sessions deleted',
      idempotency_keys: 'answers to Idempotency-Keys deleted',
      erased_files: 'deleted files whose details were erased',
      erased_uploads: 'ended uploads whose details were erased',
    },
  },
  'signing-key-retirement': {
    does: 'erases secrets that no longer verify anything',
    counts: {
      signing_keys: 'secrets of signing keys erased',
      callback_secrets: 'callback secrets erased',
    },
  },
  'library-indexes': {
    does: 'builds the indexes that let large libraries be filtered',
    counts: { built: 'indexes built', there: 'indexes that were there' },
  },
  reseal: {
    does: 'encrypts every secret anew with the first key-encryption key',
    counts: {
      resealed: 'values encrypted anew',
      'still_under_…': 'values that the key with this id still encrypts; 0: it can be removed',
    },
  },
} as const satisfies Record<keyof typeof schedules | (typeof manualJobNames)[number], JobText>;
