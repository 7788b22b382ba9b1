import { expect, it } from 'vitest';
import { frequentJobs } from '../../../runtime/jobs/frequent-jobs.ts';
import type { Job } from '../../../runtime/jobs/job.ts';
import { jobs } from '../../../runtime/jobs/table.ts';

it('the dispatcher has exactly the jobs that are due more often than hourly', () => {
  const names = Object.keys(frequentJobs());
  expect(names).toEqual(['upload-sweep', 'purge-queue', 'webhook-delivery', 'status-sampling']);
  const others = Object.entries<Job>(jobs).filter(([name]) => !names.includes(name));
  for (const [name, { schedule }] of others) expect(schedule, name).toMatch(/^\d+ /);
});
