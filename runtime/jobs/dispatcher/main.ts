/**
 * `tintype dispatcher`: sends webhooks and purges when they are due, and runs every job scheduled more often than
 * hourly; CronJobs run the others.
 */
import { runDeployment } from '../../actions/run-deployment.ts';
import type { Environment } from '../../platform/config.ts';
import { frequentJobs } from '../frequent-jobs.ts';
import { startJobs } from '../start-jobs.ts';

export function dispatcherCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'dispatcher',
    env,
    fields: ['keyEncryptionKeys'],
    start: async ({ deps, config, lifecycle }) => {
      startJobs(deps, { config, lifecycle, jobs: frequentJobs() });
      return {};
    },
  });
}
