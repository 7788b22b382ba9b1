/**
 * The table of scheduled jobs: when each runs, for how long at most, and what a missed run means. Standalone's
 * scheduler and `tintype job` are made from it. Spec: Metering; Upload session (status).
 */
import { type namesByHand, schedules } from '../core/schedules.ts';
import { contentSweep } from './content-sweep.ts';
import { dailyCharge } from './daily-charge.ts';
import { hourlyRollup } from './hourly-rollup.ts';
import { BY_HAND_SECONDS_MAX, type Job, type JobByHand } from './job.ts';
import { libraryIndexes } from './library-indexes.ts';
import { purgeQueue } from './purge-queue.ts';
import { reconciliation } from './reconciliation.ts';
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
      'Uploads without a complete call wait longer, and others where no worker is there to find them.',
    run: uploadSweep,
  },
  'purge-queue': {
    ...schedules['purge-queue'],
    clock: 'database',
    missed: 'newest',
    missed_means: 'The CDN serves what it has for longer; the purges stay due.',
    run: purgeQueue,
  },
  'webhook-delivery': {
    ...schedules['webhook-delivery'],
    clock: 'database',
    missed: 'newest',
    missed_means: 'Retries whose sender was killed wait longer; none is lost.',
    run: webhookDelivery,
  },
  'status-sampling': {
    ...schedules['status-sampling'],
    clock: 'database',
    missed: 'newest',
    missed_means: 'The status page has no samples of that time.',
    run: statusSampling,
  },
  'hourly-rollup': {
    ...schedules['hourly-rollup'],
    clock: 'at',
    missed: 'newest',
    missed_means: 'Usage shows later; the next run sums every hour that is behind.',
    run: hourlyRollup,
  },
  'daily-charge': {
    ...schedules['daily-charge'],
    clock: 'at',
    missed: 'each',
    missed_means: 'Charges come later; the next run makes up for each that was missed or failed.',
    run: dailyCharge,
  },
  reconciliation: {
    ...schedules.reconciliation,
    clock: 'at',
    missed: 'newest',
    missed_means: 'Differences between usage and charges are told a day later.',
    run: reconciliation,
  },
  'content-sweep': {
    ...schedules['content-sweep'],
    clock: 'database',
    missed: 'newest',
    missed_means: 'Objects that nobody needs take up space for longer.',
    run: contentSweep,
  },
  retention: {
    ...schedules.retention,
    clock: 'database',
    missed: 'newest',
    missed_means: 'Rows that have served stay a day longer.',
    run: retention,
  },
  'signing-key-retirement': {
    ...schedules['signing-key-retirement'],
    clock: 'database',
    missed: 'newest',
    missed_means:
      'Secrets that verify nothing any more stay in the database, sealed, a day longer.',
    run: signingKeyRetirement,
  },
} as const satisfies Record<keyof typeof schedules, Job>;

export const jobsByHand = {
  'library-indexes': {
    deadline_seconds: BY_HAND_SECONDS_MAX,
    clock: 'database',
    run: libraryIndexes,
  },
} as const satisfies Record<(typeof namesByHand)[number], JobByHand>;

export type JobName = keyof typeof jobs;
