/**
 * Starts all background work: scheduled jobs, purges, webhooks and scans. Each part is registered to stop before its
 * dependencies do.
 */
import type { Deps } from '../actions/open-deps.ts';
import { openCdn } from '../platform/cdn/open-cdn.ts';
import type { ConfigWith } from '../platform/config.ts';
import type { Lifecycle } from '../platform/lifecycle.ts';
import { openWebhookSender } from './open-webhook-sender.ts';
import { publicAddresses } from './public-addresses.ts';
import { startPurgeLoop } from './purge-loop.ts';
import { registerWorkMetrics } from './register-work-metrics.ts';
import { startScanLoop } from './scan-loop.ts';
import { type SchedulerOptions, startScheduler } from './scheduler.ts';
import { startWebhookLoop } from './webhook-loop.ts';

/** `jobs`: all jobs of the table by default. */
export type JobsOptions = Pick<SchedulerOptions, 'jobs'> & {
  config: ConfigWith<'keyEncryptionKeys'>;
  lifecycle: Lifecycle;
};

export function startJobs(deps: Deps, { config, lifecycle, ...which }: JobsOptions): void {
  registerWorkMetrics(deps);
  const cdn = openCdn(config, deps.clock);
  const webhooks = openWebhookSender(deps, config);
  const addresses = publicAddresses(config);
  const jobDeps = { ...deps, cdn, webhooks, ...(addresses && { addresses }) };
  const scheduler = startScheduler(jobDeps, { ...which, metrics: deps.metrics });
  lifecycle.onStop('scheduler', () => scheduler.stop());
  const purges = startPurgeLoop({ ...deps, cdn });
  lifecycle.onStop('purges', () => purges.stop());
  const loop = startWebhookLoop({ ...deps, sender: webhooks });
  lifecycle.onStop('webhooks', () => loop.stop());
  const scans = startScanLoop(deps, config);
  lifecycle.onStop('scans', async () => scans?.stop());
}
