/** Opens the queue that the configuration names: RabbitMQ, or one inside this process. */
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { createInProcessQueue } from './in-process.ts';
import type { Queue } from './queue.ts';

/** Throws Advice when the named broker cannot be used. */
export async function openQueue({ amqpUrl }: Pick<Config, 'amqpUrl'>, log: Log): Promise<Queue> {
  if (amqpUrl === undefined) return createInProcessQueue({ log });
  // Loaded only here: a Tintype without a broker starts faster without these packages.
  const { createRabbitQueue } = await import('./rabbitmq.ts');
  return createRabbitQueue({ url: amqpUrl, log });
}
