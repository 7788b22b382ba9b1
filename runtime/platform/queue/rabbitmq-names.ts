/**
 * What stands on the broker. Doorbells: quorum queues, on the disks of a majority. Calls: a bounded classic queue
 * that turns away what it cannot hold; a call is worth nothing once its caller has given up. Both are durable and
 * declared by whoever comes first, with nothing that a newer broker no longer knows.
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

/** The oldest go first: every one of them is found again by the sweep. */
const DOORBELLS_MAX = 100_000;

/**
 * RabbitMQ 3.10 leaves the listeners of a deleted quorum queue on one that follows within milliseconds, where they take
 * a message and starve.
 */
export const DECLARE_AGAIN_MS = 1000;

/** Declares now, and again some time after the broker had no queue for a message. */
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

/** Throws Advice where the queue stands there already with other settings than ours. */
export async function declare(
  channel: ConfirmChannel,
  { name, options }: BrokerQueue,
): Promise<Replies.AssertQueue> {
  try {
    return await channel.assertQueue(name, options);
  } catch (error) {
    if (!String(error).includes('PRECONDITION_FAILED')) throw error;
    throw new Advice(
      `The queue ${name} stands on the broker with other settings. Delete it there and start again: what it holds is found again without it.`,
      { cause: error },
    );
  }
}
