/**
 * Doorbells over RabbitMQ. A doorbell counts as rung when the broker has it on disk. Its message is acknowledged when
 * the handler has ended, even with an error: attempts are counted in PostgreSQL, never by the broker.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConfirmChannel, ConsumeMessage, Message } from 'amqplib';
import type { Log } from '../log.ts';
import { continueTrace, traceHeaders } from '../trace-context.ts';
import type { DoorbellHandler, QueueName, Subscription } from './queue.ts';
import { type ManagedChannel, openManagedChannel, QueueAway } from './rabbitmq-channel.ts';
import {
  closeChannel,
  type RabbitConnection,
  withDeadline,
  withReplyTimeout,
} from './rabbitmq-connection.ts';
import { parseMessage, printMessage } from './rabbitmq-message.ts';
import { DECLARE_AGAIN_MS, declare, doorbellQueue, keepDeclared } from './rabbitmq-names.ts';
import { probeQuorumQueue } from './rabbitmq-probe.ts';
import { tracedMessage } from './traced-message.ts';

export type RabbitDeps = { connection: RabbitConnection; log: Log };

const NAMES: readonly QueueName[] = ['ingest', 'render'];
const PUBLISH_MS_MAX = 5000;

/**
 * A channel for publishing; its queues are declared, and declared again after one was found
 * missing.
 */
export function openPublisher(deps: RabbitDeps): Promise<ManagedChannel> {
  return openManagedChannel(deps, async (channel) => {
    const declareAll = async () => {
      for (const name of NAMES) await declare(channel, doorbellQueue(name));
    };
    await keepDeclared(channel, declareAll);
  });
}

/**
 * Resolves at the broker's confirm. Throws when no confirm came in time or no queue accepted the
 * message, and at once when the broker is away: the caller has somebody waiting, and the work is
 * found without its doorbell.
 */
export function publishDoorbell(
  publisher: ManagedChannel,
  name: QueueName,
  message: object,
): Promise<void> {
  return tracedMessage('send', name, () => publish(publisher, name, message));
}

async function publish(publisher: ManagedChannel, name: QueueName, message: object): Promise<void> {
  const channel = publisher.current();
  if (channel === undefined) throw new QueueAway(publisher.whyAway());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new QueueAway()), PUBLISH_MS_MAX);
  const listenNoMore = publisher.onLost((why) => reject(new QueueAway(why)));
  const messageId = randomUUID();
  const onReturn = ({ properties }: Message) => {
    if (properties.messageId === messageId) {
      reject(new Error(`no queue takes the ${name} doorbells: it was deleted under way`));
    }
  };
  channel.on('return', onReturn);
  const terms = { persistent: true, mandatory: true, messageId, headers: traceHeaders() };
  try {
    // Throws when the channel is just closing.
    channel.sendToQueue(doorbellQueue(name).name, printMessage(message), terms, (error) =>
      error ? reject(refusalOf(name, error)) : resolve(),
    );
    await promise;
  } finally {
    clearTimeout(timer);
    channel.off('return', onReturn);
    listenNoMore();
  }
}

/**
 * A full queue of doorbells drops the oldest instead of refusing the newest, so a negative confirm
 * means that the queue has lost its leader permanently.
 */
class QueueBroken extends Error {
  constructor(name: QueueName) {
    super(`the queue of ${name} doorbells refuses what it should keep: the next sweep renews it`);
    this.name = 'QueueBroken';
  }
}

/** The message that amqplib uses. */
const NEGATIVE_CONFIRM = 'message nacked';

function refusalOf(name: QueueName, error: unknown): unknown {
  if (!(error instanceof Error)) return new QueueAway();
  return error.message === NEGATIVE_CONFIRM ? new QueueBroken(name) : error;
}

/**
 * A broker killed right after a declaration may permanently forget the queue's leader: RabbitMQ 3
 * then refuses messages, RabbitMQ 4 never confirms them, and both end the connection of every
 * listener. Work whose doorbells are deleted with the queue is found again in the database.
 */
export async function repairDoorbellQueue(
  { connection, log }: RabbitDeps,
  publisher: ManagedChannel,
  name: QueueName,
): Promise<'sound' | 'renewed'> {
  try {
    await publisher.ready(PUBLISH_MS_MAX);
    await publishDoorbell(publisher, name, {});
    return 'sound';
  } catch (error) {
    if (!(error instanceof QueueBroken) && !(await isAlone(connection, error))) throw error;
  }
  await deleteDoorbells(connection, name);
  await sleep(DECLARE_AGAIN_MS);
  const channel = await publisher.ready(PUBLISH_MS_MAX);
  await withReplyTimeout(declare(channel, doorbellQueue(name)), PUBLISH_MS_MAX);
  log.error('a doorbell queue was broken and has been recreated', { queue: name });
  return 'renewed';
}

/** RabbitMQ tries to reach a leader for 5 seconds before it forces the deletion. */
const DELETE_MS_MAX = 20_000;

/**
 * Uses a separate channel: along with the queue the broker may end every channel that worked with
 * it.
 */
async function deleteDoorbells(connection: RabbitConnection, name: QueueName): Promise<void> {
  const model = connection.current();
  if (model === undefined) throw new QueueAway();
  const channel = await withReplyTimeout(model.createChannel(), PUBLISH_MS_MAX);
  channel.on('error', () => undefined);
  try {
    await withReplyTimeout(channel.deleteQueue(doorbellQueue(name).name), DELETE_MS_MAX);
  } finally {
    await closeChannel(channel);
  }
}

/**
 * Whether only this queue is broken: it did not confirm, while a new queue on the same broker does.
 */
async function isAlone(connection: RabbitConnection, error: unknown): Promise<boolean> {
  const model = connection.current();
  if (!(error instanceof QueueAway) || model === undefined || connection.isBlocked()) return false;
  return probeQuorumQueue(model).then(
    () => true,
    () => false,
  );
}

export async function consumeDoorbells(
  deps: RabbitDeps,
  { name, slots }: { name: QueueName; slots: number },
  handle: DoorbellHandler,
): Promise<Subscription> {
  return subscribe(deps, slots, async (channel, take) => {
    const queue = doorbellQueue(name);
    await declare(channel, queue);
    const traced = (payload: unknown) => tracedMessage('process', name, () => handle(payload));
    return {
      queue: queue.name,
      take: (message) => take(() => answer(deps, message, traced)),
    };
  });
}

/** A message that cannot be read is logged and not retried. */
async function answer(
  { log }: RabbitDeps,
  message: ConsumeMessage,
  handle: DoorbellHandler,
): Promise<void> {
  try {
    const { content, properties } = message;
    await continueTrace(properties.headers, () => handle(parseMessage(content)));
  } catch (error) {
    log.error('the handler of a doorbell failed', { queue: message.fields.routingKey, error });
  }
}

export type TrackWork = (work: () => Promise<void>) => Promise<void>;
type Prepare = (
  channel: ConfirmChannel,
  take: TrackWork,
) => Promise<{ queue: string; take: (message: ConsumeMessage) => Promise<void> }>;

const CANCEL_MS_MAX = 3000;

/**
 * Handles up to `slots` messages at once; each is acknowledged on the channel that delivered it.
 */
export async function subscribe(
  deps: RabbitDeps,
  slots: number,
  prepare: Prepare,
): Promise<Subscription> {
  const running = new Set<Promise<void>>();
  const take: TrackWork = (work) => {
    const run = work().finally(() => running.delete(run));
    running.add(run);
    return run;
  };
  const tag = { current: '' };
  const kept = await openManagedChannel(deps, async (channel) => {
    await channel.prefetch(slots);
    const { queue, take: takeMessage } = await prepare(channel, take);
    const consumed = await channel.consume(queue, (message) => {
      // The broker ends a consumer whose queue was deleted; a new channel declares the queue again.
      if (message === null) return void closeChannel(channel);
      void takeMessage(message).then(() => acknowledge(channel, message));
    });
    tag.current = consumed.consumerTag;
  });
  return {
    stop: async () => {
      const channel = kept.current();
      if (channel !== undefined) await withDeadline(channel.cancel(tag.current), CANCEL_MS_MAX);
      await Promise.all(running);
      await kept.close();
    },
  };
}

/** If the channel is gone by now, the broker delivers the message to another consumer. */
function acknowledge(channel: ConfirmChannel, message: ConsumeMessage): void {
  try {
    channel.ack(message);
  } catch {
    // The channel's own events report it.
  }
}
