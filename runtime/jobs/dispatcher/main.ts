/**
 * `tintype dispatcher`: sends purges when they are due, and runs every job that is due more often than hourly;
 * CronJobs call the others.
 */
import { runDeployment } from '../../actions/run-deployment.ts';
import { countUploadsWaiting } from '../../db/uploads-waiting.ts';
import { openCdn } from '../../platform/cdn/open-cdn.ts';
import type { Environment } from '../../platform/config.ts';
import { frequentJobs } from '../frequent-jobs.ts';
import { startPurgeLoop } from '../purge-loop.ts';
import { startScheduler } from '../scheduler.ts';

export function dispatcherCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'dispatcher',
    env,
    fields: [],
    start: async ({ deps, config, lifecycle }) => {
      deps.metrics.watch({ uploads: () => countUploadsWaiting(deps.db) });
      const cdn = openCdn(config, deps.clock);
      const options = { jobs: frequentJobs(), metrics: deps.metrics };
      const scheduler = startScheduler({ ...deps, cdn }, options);
      lifecycle.onStop('scheduler', () => scheduler.stop());
      const purges = startPurgeLoop({ ...deps, cdn });
      lifecycle.onStop('purges', () => purges.stop());
      return {};
    },
  });
}
