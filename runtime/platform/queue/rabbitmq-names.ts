/**
 * What stands on the broker. Doorbells: quorum queues, on the disks of a majority. Calls: a bounded classic queue
 * that turns away what it cannot hold; a call is worth nothing once its caller has given up. Both are durable and
 * declared by whoever comes first, with nothing that a newer broker no longer knows.
 */
import type { ConfirmChannel, Options } from 'amqplib';
import type { QueueName } from './queue.ts';

export type BrokerQueue = { name: string; options: Options.AssertQueue };

export function doorbellQueue(name: QueueName): BrokerQueue {
  const kind = { 'x-queue-type': 'quorum', 'x-max-length': DOORBELLS_MAX };
  return { name: `tintype.${name}.doorbells`, options: { durable: true, arguments: kind } };
}

export function callQueue(name: QueueName, waitingMax: number): BrokerQueue {
  const bound = { 'x-max-length': waitingMax, 'x-overflow': 'reject-publish' };
  return { name: `tintype.${name}.calls`, options: { durable: true, arguments: bound } };
}

/** The oldest go first: every one of them is found again by the sweep. */
const DOORBELLS_MAX = 100_000;

export async function declare(channel: ConfirmChannel, queue: BrokerQueue): Promise<void> {
  await channel.assertQueue(queue.name, queue.options);
}
