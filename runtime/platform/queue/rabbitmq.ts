/**
 * Doorbells and calls over RabbitMQ, behind the same interface as inside one process. PostgreSQL is the truth: a
 * purged queue, a lost message or a broker that restarts costs time, never work.
 */
import type { Log } from '../log.ts';
import type { Queue, Subscription } from './queue.ts';
import { type Caller, createCaller, serveCalls } from './rabbitmq-calls.ts';
import type { KeptChannel } from './rabbitmq-channel.ts';
import { connectRabbit } from './rabbitmq-connection.ts';
import { type QueueDepth, readDepths } from './rabbitmq-depth.ts';
import {
  consumeDoorbells,
  keepPublisher,
  publishDoorbell,
  type RabbitDeps,
} from './rabbitmq-doorbells.ts';

/** Calls that may wait on the broker, of all callers together. */
const CALLS_WAITING_MAX = 256;

export type RabbitQueue = Queue & {
  /** What waits on the broker, for everybody together. */
  depths(): Promise<QueueDepth[]>;
};

type Options = { url: string; log: Log; calls_waiting_max?: number };

/** Throws Advice where the broker cannot be reached or does not let us in. */
export async function createRabbitQueue({ url, log, ...options }: Options): Promise<RabbitQueue> {
  const waitingMax = options.calls_waiting_max ?? CALLS_WAITING_MAX;
  const connection = await connectRabbit(url, log);
  const deps = { connection, log };
  try {
    const publisher = await keepPublisher(deps);
    const caller = await createCaller(deps, waitingMax);
    return queueOver({ deps, publisher, caller, waitingMax });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

type Parts = { deps: RabbitDeps; publisher: KeptChannel; caller: Caller; waitingMax: number };

function queueOver({ deps, publisher, caller, waitingMax }: Parts): RabbitQueue {
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
    depths: () => readDepths(deps.connection, waitingMax),
    close: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await Promise.all([publisher.close(), caller.close()]);
      await deps.connection.close();
    },
  };
}
