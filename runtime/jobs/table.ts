/**
 * The table of scheduled jobs: when each runs, for how long at most, and what a missed run means. Standalone's
 * scheduler and `tintype job` are made from it. Spec: Metering; Upload session (status).
 */
import { schedules } from '../core/schedules.ts';
import { contentSweep } from './content-sweep.ts';
import { dailyCharge } from './daily-charge.ts';
import { hourlyRollup } from './hourly-rollup.ts';
import type { Job } from './job.ts';
import { purgeQueue } from './purge-queue.ts';
import { retention } from './retention.ts';
import { uploadSweep } from './upload-sweep.ts';

export const jobs = {
  'upload-sweep': {
    ...schedules['upload-sweep'],
    clock: 'database',
    overlap: 'skip',
    missed: 'newest',
    missed_means:
      'Uploads without a complete call, and those whose worker was killed, wait longer.',
    run: uploadSweep,
  },
  'purge-queue': {
    ...schedules['purge-queue'],
    clock: 'database',
    overlap: 'skip',
    missed: 'newest',
    missed_means: 'The CDN serves what it has for longer; the purges stay due.',
    run: purgeQueue,
  },
  'hourly-rollup': {
    ...schedules['hourly-rollup'],
    clock: 'at',
    overlap: 'skip',
    missed: 'newest',
    missed_means: 'Usage shows later; the next run sums every hour that is behind.',
    run: hourlyRollup,
  },
  'daily-charge': {
    ...schedules['daily-charge'],
    clock: 'at',
    overlap: 'skip',
    missed: 'each',
    missed_means:
      'Charges come later. A run covers three days: after a longer gap each day is run.',
    run: dailyCharge,
  },
  'content-sweep': {
    ...schedules['content-sweep'],
    clock: 'database',
    overlap: 'skip',
    missed: 'newest',
    missed_means: 'Objects that nobody needs take up space for longer.',
    run: contentSweep,
  },
  retention: {
    ...schedules.retention,
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
