/**
 * `tintype dispatcher`: sends webhooks and purges when they are due, and runs every job that is due more often than hourly;
 * CronJobs call the others.
 */
import { runDeployment } from '../../actions/run-deployment.ts';
import { openCdn } from '../../platform/cdn/open-cdn.ts';
import type { Environment } from '../../platform/config.ts';
import { frequentJobs } from '../frequent-jobs.ts';
import { openWebhookSender } from '../open-webhook-sender.ts';
import { publicAddresses } from '../public-addresses.ts';
import { startPurgeLoop } from '../purge-loop.ts';
import { startScanLoop } from '../scan-loop.ts';
import { startScheduler } from '../scheduler.ts';
import { watchWork } from '../watch-work.ts';
import { startWebhookLoop } from '../webhook-loop.ts';

export function dispatcherCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'dispatcher',
    env,
    fields: ['keyEncryptionKeys'],
    start: async ({ deps, config, lifecycle }) => {
      watchWork(deps);
      const cdn = openCdn(config, deps.clock);
      const webhooks = openWebhookSender(deps, config);
      const options = { jobs: frequentJobs(), metrics: deps.metrics };
      const addresses = publicAddresses(config);
      const jobDeps = { ...deps, cdn, webhooks, ...(addresses && { addresses }) };
      const scheduler = startScheduler(jobDeps, options);
      lifecycle.onStop('scheduler', () => scheduler.stop());
      const purges = startPurgeLoop({ ...deps, cdn });
      lifecycle.onStop('purges', () => purges.stop());
      const loop = startWebhookLoop({ ...deps, sender: webhooks });
      lifecycle.onStop('webhooks', () => loop.stop());
      const scans = startScanLoop(deps, config);
      lifecycle.onStop('scans', async () => scans?.stop());
      return {};
    },
  });
}
