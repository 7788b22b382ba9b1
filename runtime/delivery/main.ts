/** `tintype delivery`: the delivery hosts of a deployment, from the environment alone. */
import { runDeployment } from '../actions/run-deployment.ts';
import type { Environment } from '../platform/config.ts';
import { listen } from '../platform/http/listen.ts';
import { createSealing } from '../platform/sealing.ts';
import { startDelivery } from './serve.ts';

export function deliveryCommand(env: Environment): Promise<void> {
  return runDeployment({
    name: 'delivery',
    env,
    fields: ['deliveryRootDomain', 'keyEncryptionKeys', 'spoolDir'],
    start: async ({ deps, config, lifecycle }) => {
      const { server, stop } = startDelivery({
        ...deps,
        sealing: createSealing(config.keyEncryptionKeys),
        content: deps.buckets.content,
        baseUrl: config.baseUrl,
        rootDomain: config.deliveryRootDomain,
        spool_folder: config.spoolDir,
      });
      lifecycle.onStop('delivery', stop);
      return {
        port: await listen(server, { port: config.deliveryPort, option: 'TINTYPE_DELIVERY_PORT' }),
      };
    },
  });
}
