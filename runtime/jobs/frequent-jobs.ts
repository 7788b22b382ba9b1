/** The jobs that a process runs which is always there, because they are due more often than a CronJob should start. */
import { Cron } from 'croner';
import type { Job } from './job.ts';
import { jobs } from './table.ts';

const HOUR_MS = 3_600_000;

/** Those of the table that are due more often than hourly. */
export function frequentJobs(): Record<string, Job> {
  return Object.fromEntries(Object.entries<Job>(jobs).filter(([, job]) => isFrequent(job)));
}

function isFrequent({ schedule }: Job): boolean {
  const [first, second] = new Cron(schedule, { timezone: 'UTC' }).nextRuns(2);
  if (first === undefined || second === undefined) return false;
  return second.getTime() - first.getTime() < HOUR_MS;
}
