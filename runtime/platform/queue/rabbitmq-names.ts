/**
 * The queues on the broker. Doorbells: quorum queues, on the disks of a majority. Calls: a bounded classic queue that
 * rejects what exceeds it, because a call is worth nothing once its caller has given up. Both are durable and declared
 * by the first process that needs them, without features that newer brokers have dropped.
 */
import type { ConfirmChannel, Options, Replies } from 'amqplib';
import { Advice } from '../advice.ts';
import { callsOf, doorbellsOf, type QueueName } from './queue.ts';

export type BrokerQueue = { name: string; options: Options.AssertQueue };

export function doorbellQueue(name: QueueName): BrokerQueue {
  const kind = { 'x-queue-type': 'quorum', 'x-max-length': DOORBELLS_MAX };
  return { name: doorbellsOf(name), options: { durable: true, arguments: kind } };
}

export function callQueue(name: QueueName, waitingMax: number): BrokerQueue {
  const bound = { 'x-max-length': waitingMax, 'x-overflow': 'reject-publish' };
  return { name: callsOf(name), options: { durable: true, arguments: bound } };
}

/** The oldest doorbells are dropped first; the sweep finds the work of every dropped one. */
const DOORBELLS_MAX = 100_000;

/**
 * RabbitMQ 3.10 attaches the listeners of a deleted quorum queue to a queue declared again within
 * milliseconds; there they take one message and then starve.
 */
export const DECLARE_AGAIN_MS = 1000;

/** Declares now, and again some time after the broker returned a message for want of a queue. */
export async function keepDeclared(
  channel: ConfirmChannel,
  declareAll: () => Promise<void>,
): Promise<void> {
  let isDue = false;
  channel.on('return', () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      declareAll().catch(() => undefined);
    }, DECLARE_AGAIN_MS).unref();
  });
  await declareAll();
}

/** Throws Advice when the queue exists with settings other than ours. */
export async function declare(
  channel: ConfirmChannel,
  { name, options }: BrokerQueue,
): Promise<Replies.AssertQueue> {
  try {
    return await channel.assertQueue(name, options);
  } catch (error) {
    if (!String(error).includes('PRECONDITION_FAILED')) throw error;
    throw new Advice(
      `The queue ${name} exists on the broker with other settings. Delete it there and start again: Tintype finds its contents again without it.`,
      { cause: error },
    );
  }
}
