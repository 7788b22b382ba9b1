/** `tintype worker`: processes uploads and renders, configured by the environment alone. */
import { runDeployment, WORKER_END_MS_MAX } from '../actions/run-deployment.ts';
import type { Environment } from '../platform/config.ts';
import { startWorker, workerSettings } from './serve.ts';

export function workerCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'worker',
    env,
    fields: [],
    end_ms_max: WORKER_END_MS_MAX,
    start: async ({ deps, config, lifecycle }) => {
      const worker = await startWorker({ ...deps, ...workerSettings(config) });
      lifecycle.onStop('worker', () => worker.stop());
      return {};
    },
  });
}
