/** `tintype dispatcher`: runs every job that is due more often than hourly; CronJobs call the others. */
import { runDeployment } from '../../actions/run-deployment.ts';
import { noCdn } from '../../platform/cdn/cdn.ts';
import type { Environment } from '../../platform/config.ts';
import { frequentJobs } from '../frequent-jobs.ts';
import { startScheduler } from '../scheduler.ts';

export function dispatcherCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'dispatcher',
    env,
    fields: [],
    start: async ({ deps, lifecycle }) => {
      const options = { jobs: frequentJobs(), metrics: deps.metrics };
      const scheduler = startScheduler({ ...deps, cdn: noCdn }, options);
      lifecycle.onStop('scheduler', () => scheduler.stop());
      return {};
    },
  });
}
