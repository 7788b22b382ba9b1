/**
 * How many messages wait on the broker, for metrics and scalers. AMQP reports the ready messages and the listeners; the
 * number in work is at most the listeners' slots, and is recorded in PostgreSQL.
 */
import type { ChannelModel } from 'amqplib';
import type { QueueDepth } from './queue.ts';
import { QueueAway } from './rabbitmq-channel.ts';
import { closeChannel, type RabbitConnection, withReplyTimeout } from './rabbitmq-connection.ts';
import { type BrokerQueue, callQueue, doorbellQueue } from './rabbitmq-names.ts';

const ANSWER_MS_MAX = 5000;

export async function readDepths(
  connection: RabbitConnection,
  waitingMax: number,
): Promise<QueueDepth[]> {
  const model = connection.current();
  if (model === undefined || connection.isBlocked()) throw new QueueAway(connection.whyAway());
  const queues = [
    doorbellQueue('ingest'),
    doorbellQueue('render'),
    callQueue('render', waitingMax),
  ];
  return withReplyTimeout(
    Promise.all(queues.map((queue) => readDepth(model, queue))),
    ANSWER_MS_MAX,
  );
}

/** Uses a separate channel, because asking for a missing queue closes the channel. */
async function readDepth(model: ChannelModel, { name }: BrokerQueue): Promise<QueueDepth> {
  const channel = await model.createChannel();
  channel.on('error', () => undefined);
  try {
    const { messageCount, consumerCount } = await channel.checkQueue(name);
    await closeChannel(channel);
    return { queue: name, waiting: messageCount, listeners: consumerCount };
  } catch (error) {
    if (!String(error).includes('NOT_FOUND')) throw error;
    return { queue: name, waiting: 0, listeners: 0 };
  }
}
