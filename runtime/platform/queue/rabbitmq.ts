/**
 * Doorbells and calls over RabbitMQ, behind the same interface as inside one process. PostgreSQL is the truth: a
 * purged queue, a lost message or a broker that restarts costs time, never work.
 */
import type { Log } from '../log.ts';
import type { Queue, Subscription } from './queue.ts';
import { createCaller, serveCalls } from './rabbitmq-calls.ts';
import { connectRabbit } from './rabbitmq-connection.ts';
import { consumeDoorbells, keepPublisher, publishDoorbell } from './rabbitmq-doorbells.ts';

/** Calls that may wait on the broker, of all callers together. */
const CALLS_WAITING_MAX = 256;

/** Throws Advice where the broker cannot be reached or does not let us in. */
export async function createRabbitQueue(options: {
  url: string;
  log: Log;
  calls_waiting_max?: number;
}): Promise<Queue> {
  const { url, log, calls_waiting_max: waitingMax = CALLS_WAITING_MAX } = options;
  const connection = await connectRabbit(url, log);
  const deps = { connection, log };
  const publisher = await keepPublisher(deps);
  const caller = await createCaller(deps, waitingMax);
  const subscriptions: Subscription[] = [];
  const kept = async (subscribing: Promise<Subscription>) => {
    const subscription = await subscribing;
    subscriptions.push(subscription);
    return subscription;
  };
  return {
    publish: (name, message) => publishDoorbell(publisher, name, message),
    consume: (name, { slots }, handle) => kept(consumeDoorbells(deps, { name, slots }, handle)),
    call: (name, payload, callOptions) => caller.call(name, payload, callOptions),
    serve: (name, { slots }, handle) => kept(serveCalls(deps, { name, slots, waitingMax }, handle)),
    close: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await Promise.all([publisher.close(), caller.close()]);
      await connection.close();
    },
  };
}
