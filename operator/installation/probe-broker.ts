/** Whether RabbitMQ accepts the installation's credentials, and has quorum queues. Spec: Upload session (status). */
import { openRabbitProbe } from '../../runtime/platform/queue/rabbitmq-probe.ts';
import type { Verdict } from '../image-service/observed.ts';
import type { PodEnvironment } from '../image-service/pod-environment.ts';
import type { ImageServiceSpec } from '../image-service/schema.ts';

export async function probeBroker(spec: ImageServiceSpec, env: PodEnvironment): Promise<Verdict> {
  const url = env['TINTYPE_AMQP_URL'] ?? '';
  if (URL.parse(url)?.protocol === 'amqps:' && spec.caConfigMapRef !== undefined) {
    const message = 'The broker is not tested: `spec.caConfigMapRef` is only for pods.';
    return { reason: 'NotChecked', message };
  }
  try {
    const probe = await openRabbitProbe(url);
    try {
      await probe.probeQuorumQueue();
    } finally {
      await probe.close();
    }
    return { reason: 'Usable', message: `${probe.product} answers, and has quorum queues.` };
  } catch (error) {
    const { name } = spec.amqpSecretRef;
    const why = error instanceof Error ? error.message : String(error);
    const message = `RabbitMQ cannot be used at the address in Secret '${name}' (\`spec.amqpSecretRef\`): ${why.replaceAll('TINTYPE_AMQP_URL', 'the address')}`;
    return { reason: 'BrokerUnusable', message };
  }
}
