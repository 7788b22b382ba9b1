/** `tintype worker`: processes uploads and renders, from the environment alone. */
import { runDeployment } from '../actions/run-deployment.ts';
import type { Environment } from '../platform/config.ts';
import { startWorker, workerSettings } from './serve.ts';

export function workerCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'worker',
    env,
    fields: [],
    start: async ({ deps, config, lifecycle }) => {
      const worker = await startWorker({ ...deps, ...workerSettings(config) });
      lifecycle.onStop('worker', () => worker.stop());
      return {};
    },
  });
}
