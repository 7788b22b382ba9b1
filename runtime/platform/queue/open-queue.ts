/** The queue that the configuration names: RabbitMQ, or one inside this process. */
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { createInProcessQueue } from './in-process.ts';
import type { Queue } from './queue.ts';
import { createRabbitQueue } from './rabbitmq.ts';

/** Throws Advice where a broker is named that cannot be used. */
export async function openQueue({ amqpUrl }: Pick<Config, 'amqpUrl'>, log: Log): Promise<Queue> {
  return amqpUrl === undefined
    ? createInProcessQueue({ log })
    : createRabbitQueue({ url: amqpUrl, log });
}
