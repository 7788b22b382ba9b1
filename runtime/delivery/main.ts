/** `tintype delivery`: serves the delivery hosts of a deployment, configured by the environment alone. */
import { DELIVERY_END_MS_MAX, runDeployment } from '../actions/run-deployment.ts';
import type { Environment } from '../platform/config.ts';
import { listen } from '../platform/http/listen.ts';
import { createSealing } from '../platform/sealing.ts';
import { startDelivery } from './serve.ts';

const USAGE_PATIENCE_MS = 300_000;

export function deliveryCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'delivery',
    env,
    fields: ['deliveryRootDomain', 'keyEncryptionKeys', 'spoolDir'],
    end_ms_max: DELIVERY_END_MS_MAX,
    start: async ({ deps, config, lifecycle }) => {
      const { server, stop } = startDelivery({
        ...deps,
        sealing: createSealing(config.keyEncryptionKeys),
        content: deps.buckets.content,
        baseUrl: config.baseUrl,
        rootDomain: config.deliveryRootDomain,
        spool_folder: config.spoolDir,
        usage_patience_ms: USAGE_PATIENCE_MS,
      });
      lifecycle.onStop('delivery', stop);
      return {
        port: await listen(server, { port: config.deliveryPort, option: 'TINTYPE_DELIVERY_PORT' }),
      };
    },
  });
}
