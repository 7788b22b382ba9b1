/**
 * The table of scheduled jobs: when each runs, for how long at most, and what a missed run means. Standalone's
 * scheduler and `tintype job` are made from it. Spec: Metering; Upload session (status).
 */
import { DAILY_CHARGE_HOUR, DAILY_CHARGE_MINUTE, HOURLY_ROLLUP_MINUTE } from '../core/limits.ts';
import { contentSweep } from './content-sweep.ts';
import { dailyCharge } from './daily-charge.ts';
import { hourlyRollup } from './hourly-rollup.ts';
import type { Job } from './job.ts';
import { purgeQueue } from './purge-queue.ts';
import { retention } from './retention.ts';
import { uploadSweep } from './upload-sweep.ts';

export const jobs = {
  'upload-sweep': {
    schedule: '* * * * *',
    deadline_seconds: 300,
    clock: 'database',
    overlap: 'skip',
    missed: 'newest',
    missed_means:
      'Uploads without a complete call, and those whose worker was killed, wait longer.',
    run: uploadSweep,
  },
  'purge-queue': {
    schedule: '* * * * *',
    deadline_seconds: 300,
    clock: 'database',
    overlap: 'skip',
    missed: 'newest',
    missed_means: 'The CDN serves what it has for longer; the purges stay due.',
    run: purgeQueue,
  },
  'hourly-rollup': {
    schedule: `${HOURLY_ROLLUP_MINUTE} * * * *`,
    deadline_seconds: 900,
    clock: 'at',
    overlap: 'skip',
    missed: 'newest',
    missed_means: 'Usage shows later; the next run sums every hour that is behind.',
    run: hourlyRollup,
  },
  'daily-charge': {
    schedule: `${DAILY_CHARGE_MINUTE} ${DAILY_CHARGE_HOUR} * * *`,
    deadline_seconds: 1800,
    clock: 'at',
    overlap: 'skip',
    missed: 'each',
    missed_means:
      'Charges come later. A run covers three days: after a longer gap each day is run.',
    run: dailyCharge,
  },
  'content-sweep': {
    schedule: '10 * * * *',
    deadline_seconds: 1800,
    clock: 'database',
    overlap: 'skip',
    missed: 'newest',
    missed_means: 'Objects that nobody needs take up space for longer.',
    run: contentSweep,
  },
  retention: {
    schedule: '40 1 * * *',
    deadline_seconds: 1800,
    clock: 'database',
    overlap: 'skip',
    missed: 'newest',
    missed_means: 'Rows that have served stay a day longer.',
    run: retention,
  },
} as const satisfies Record<string, Job>;

export type JobName = keyof typeof jobs;

export function isJobName(name: string): name is JobName {
  return Object.hasOwn(jobs, name);
}
