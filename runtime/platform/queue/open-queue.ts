/** The queue that the configuration names: RabbitMQ, or one inside this process. */
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { createInProcessQueue } from './in-process.ts';
import type { Queue } from './queue.ts';

/** Throws Advice where a broker is named that cannot be used. */
export async function openQueue({ amqpUrl }: Pick<Config, 'amqpUrl'>, log: Log): Promise<Queue> {
  if (amqpUrl === undefined) return createInProcessQueue({ log });
  // Packages that a Tintype without a broker starts sooner without.
  const { createRabbitQueue } = await import('./rabbitmq.ts');
  return createRabbitQueue({ url: amqpUrl, log });
}
