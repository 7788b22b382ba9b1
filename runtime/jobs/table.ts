/**
 * The table of scheduled jobs: schedule, deadline, and the meaning of a missed run. The standalone scheduler and
 * `tintype job` use it. Spec: Metering; Upload session (status).
 */
import { type manualJobNames, schedules } from '../core/schedules.ts';
import { contentSweep } from './content-sweep.ts';
import { dailyCharge, listChargeableNights } from './daily-charge.ts';
import { hourlyRollup } from './hourly-rollup.ts';
import { type Job, MANUAL_JOB_SECONDS_MAX, type ManualJob } from './job.ts';
import { libraryIndexes } from './library-indexes.ts';
import { purgeQueue } from './purge-queue.ts';
import { reconciliation } from './reconciliation.ts';
import { reseal } from './reseal.ts';
import { retention } from './retention.ts';
import { signingKeyRetirement } from './signing-key-retirement.ts';
import { statusSampling } from './status-sampling.ts';
import { uploadSweep } from './upload-sweep.ts';
import { webhookDelivery } from './webhook-delivery.ts';

export const jobs = {
  'upload-sweep': {
    ...schedules['upload-sweep'],
    clock: 'database',
    missed: 'newest',
    missed_means:
      'Uploads without a complete call wait longer, and others if no worker is there to find them.',
    run: uploadSweep,
  },
  'purge-queue': {
    ...schedules['purge-queue'],
    clock: 'database',
    missed: 'newest',
    missed_means: 'The CDN serves old content for longer; the purges stay due.',
    run: purgeQueue,
  },
  'webhook-delivery': {
    ...schedules['webhook-delivery'],
    clock: 'database',
    missed: 'newest',
    missed_means: 'Retries whose sender was killed wait longer; no retry is lost.',
    run: webhookDelivery,
  },
  'status-sampling': {
    ...schedules['status-sampling'],
    clock: 'database',
    missed: 'newest',
    missed_means: 'The status page has no samples for that time.',
    run: statusSampling,
  },
  'hourly-rollup': {
    ...schedules['hourly-rollup'],
    clock: 'at',
    missed: 'newest',
    missed_means: 'Usage appears later; the next run sums every missing hour.',
    run: hourlyRollup,
  },
  'daily-charge': {
    ...schedules['daily-charge'],
    clock: 'at',
    missed: 'each',
    needed: listChargeableNights,
    missed_means:
      'Charges come later; the next run makes up for each run that was missed or failed.',
    run: dailyCharge,
  },
  reconciliation: {
    ...schedules.reconciliation,
    clock: 'at',
    missed: 'newest',
    missed_means: 'Differences between usage and charges are reported a day later.',
    run: reconciliation,
  },
  'content-sweep': {
    ...schedules['content-sweep'],
    clock: 'database',
    missed: 'newest',
    missed_means: 'Unneeded objects take up space for longer.',
    run: contentSweep,
  },
  retention: {
    ...schedules.retention,
    clock: 'database',
    missed: 'newest',
    missed_means: 'Rows that are no longer needed stay a day longer.',
    run: retention,
  },
  'signing-key-retirement': {
    ...schedules['signing-key-retirement'],
    clock: 'database',
    missed: 'newest',
    missed_means:
      'Secrets that no longer verify anything stay in the database, encrypted, a day longer.',
    run: signingKeyRetirement,
  },
} as const satisfies Record<keyof typeof schedules, Job>;

export const manualJobs = {
  'library-indexes': {
    deadline_seconds: MANUAL_JOB_SECONDS_MAX,
    clock: 'database',
    run: libraryIndexes,
  },
  reseal: { deadline_seconds: MANUAL_JOB_SECONDS_MAX, clock: 'database', run: reseal },
} as const satisfies Record<(typeof manualJobNames)[number], ManualJob>;

export type JobName = keyof typeof jobs;
