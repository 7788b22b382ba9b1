/** The jobs of a permanent process: scheduled more often than a CronJob should start. */
import { isFrequent } from '../core/schedules.ts';
import type { Job } from './job.ts';
import { jobs } from './table.ts';

/** The jobs of the table that are scheduled more often than hourly. */
export function frequentJobs(): Record<string, Job> {
  return Object.fromEntries(Object.entries<Job>(jobs).filter(([, job]) => isFrequent(job)));
}
