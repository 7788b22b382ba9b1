/** `tintype api`: the API of a deployment, from the environment alone. */
import { API_END_MS_MAX, runDeployment } from '../actions/run-deployment.ts';
import type { Environment } from '../platform/config.ts';
import { listen } from '../platform/http/listen.ts';
import { apiFields, startApi } from './serve.ts';

export function apiCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'api',
    env,
    fields: apiFields,
    end_ms_max: API_END_MS_MAX,
    start: async ({ deps, config, lifecycle }) => {
      const api = startApi(deps, { config });
      lifecycle.onStop('api', api.stop);
      return {
        port: await listen(api.server, { port: config.apiPort, option: 'TINTYPE_API_PORT' }),
      };
    },
  });
}
