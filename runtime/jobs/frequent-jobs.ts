/** The jobs that a process runs which is always there, because they are due more often than a CronJob should start. */
import { isFrequent } from '../core/schedules.ts';
import type { Job } from './job.ts';
import { jobs } from './table.ts';

/** Those of the table that are due more often than hourly. */
export function frequentJobs(): Record<string, Job> {
  return Object.fromEntries(Object.entries<Job>(jobs).filter(([, job]) => isFrequent(job)));
}
