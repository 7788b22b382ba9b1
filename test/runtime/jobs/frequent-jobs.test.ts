import { expect, it } from 'vitest';
import { frequentJobs } from '../../../runtime/jobs/frequent-jobs.ts';
import { jobs } from '../../../runtime/jobs/table.ts';

it('the dispatcher has exactly the jobs that are due more often than hourly', () => {
  const names = Object.keys(frequentJobs());
  expect(names).toEqual(expect.arrayContaining(['upload-sweep', 'purge-queue']));
  const others = Object.keys(jobs).filter((name) => !names.includes(name));
  expect(others).toEqual(expect.arrayContaining(['hourly-rollup', 'daily-charge', 'retention']));
});
