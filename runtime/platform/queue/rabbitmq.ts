/**
 * Doorbells and calls over RabbitMQ, behind the same interface as the in-process queue. PostgreSQL is the source of
 * truth: a purged queue, a lost message or a broker restart costs time, never work.
 */
import { Advice } from '../advice.ts';
import type { Log } from '../log.ts';
import type { Queue, Subscription } from './queue.ts';
import { type Caller, createCaller, serveCalls } from './rabbitmq-calls.ts';
import type { ManagedChannel } from './rabbitmq-channel.ts';
import { connectRabbit, type RabbitConnection, withReplyTimeout } from './rabbitmq-connection.ts';
import { readDepths } from './rabbitmq-depth.ts';
import {
  consumeDoorbells,
  openPublisher,
  publishDoorbell,
  type RabbitDeps,
  repairDoorbellQueue,
} from './rabbitmq-doorbells.ts';

/** How many calls may wait on the broker, for all callers together. */
const CALLS_WAITING_MAX = 256;

type Options = { url: string; log: Log; calls_waiting_max?: number };

/** Throws Advice when the broker cannot be reached or refuses us. */
export async function createRabbitQueue({ url, log, ...options }: Options): Promise<Queue> {
  const waitingMax = options.calls_waiting_max ?? CALLS_WAITING_MAX;
  const connection = await connectRabbit(url, log);
  const deps = { connection, log };
  try {
    const publisher = await openPublisher(deps);
    const caller = await createCaller(deps, waitingMax);
    const parts = { deps, publisher, caller, waitingMax };
    return queueOver({ ...parts, openListener: () => openListener(url, log) });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Short, because RabbitMQ 4 searches a whole minute for the leader of a queue that has none. */
const LISTEN_MS_MAX = 5000;

/**
 * Doorbell listeners have a separate connection, because a broken queue ends it again and again
 * while calls continue on the other. Such a queue does not prevent the start of a process either:
 * uploads are found without their doorbells.
 */
async function openListener(url: string, log: Log): Promise<RabbitConnection> {
  const connection = await connectRabbit(url, log);
  const whenConnected: RabbitConnection['whenConnected'] = async (work) => {
    try {
      await withReplyTimeout(connection.whenConnected(work), LISTEN_MS_MAX);
    } catch (error) {
      if (error instanceof Advice) throw error;
      log.error('doorbells cannot be received yet', { error });
    }
  };
  return { ...connection, whenConnected };
}

type Parts = {
  deps: RabbitDeps;
  publisher: ManagedChannel;
  caller: Caller;
  waitingMax: number;
  /** Called when the first doorbell listener subscribes. */
  openListener(): Promise<RabbitConnection>;
};

function queueOver({ deps, publisher, caller, waitingMax, ...parts }: Parts): Queue {
  let listener: Promise<RabbitConnection> | undefined;
  const listen = async () => {
    listener ??= parts.openListener();
    return { ...deps, connection: await listener };
  };
  const subscriptions: Subscription[] = [];
  const kept = async (subscribing: Promise<Subscription>) => {
    const subscription = await subscribing;
    subscriptions.push(subscription);
    return subscription;
  };
  return {
    publish: (name, message) => publishDoorbell(publisher, name, message),
    consume: async (name, { slots }, handle) =>
      kept(consumeDoorbells(await listen(), { name, slots }, handle)),
    call: (name, payload, callOptions) => caller.call(name, payload, callOptions),
    serve: (name, { slots }, handle) => kept(serveCalls(deps, { name, slots, waitingMax }, handle)),
    repair: (name) => repairDoorbellQueue(deps, publisher, name),
    depths: () => readDepths(deps.connection, waitingMax),
    close: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await Promise.all([publisher.close(), caller.close()]);
      await Promise.all([deps.connection.close(), listener?.then((own) => own.close())]);
    },
  };
}
