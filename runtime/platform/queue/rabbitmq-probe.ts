/** Tests whether a broker does what the queue needs: login, quorum queues, and confirms of accepted messages. */
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import { Advice } from '../advice.ts';
import { createLog } from '../log.ts';
import { closeChannel, connectRabbit, withReplyTimeout } from './rabbitmq-connection.ts';

export type RabbitProbe = {
  product: string;
  /** Throws Advice when the broker has an alarm. */
  probeQuorumQueue(): Promise<void>;
  close(): Promise<void>;
};

const STEP_MS_MAX = 10_000;
/**
 * A killed probe leaves nothing behind: the broker deletes the queue once it is unused for this
 * long.
 */
const UNUSED_MS_MAX = 60_000;
const QUORUM = {
  durable: true,
  arguments: { 'x-queue-type': 'quorum', 'x-expires': UNUSED_MS_MAX },
};

/** Throws Advice when the broker cannot be reached or refuses us. */
export async function openRabbitProbe(url: string): Promise<RabbitProbe> {
  const log = createLog({ level: 'silent', name: 'probe' });
  const connection = await connectRabbit(url, log);
  const model = connection.current();
  const facts: Record<string, unknown> = { ...model?.connection.serverProperties };
  return {
    product: `${facts['product']} ${facts['version']}`,
    probeQuorumQueue: async () => {
      if (model === undefined) throw new Error('the connection broke at once');
      const { promise: blocked, reject } = Promise.withResolvers<never>();
      connection.onBlocked((reason) =>
        reject(
          new Advice(
            `The broker accepts no messages (${reason}): free memory or disk space on it.`,
          ),
        ),
      );
      await Promise.race([probeQuorumQueue(model), blocked]);
    },
    close: () => connection.close(),
  };
}

/**
 * Declares a quorum queue, has a message confirmed and read back, and deletes the queue; throws
 * when any step fails or takes too long.
 */
export async function probeQuorumQueue(model: ChannelModel): Promise<void> {
  const channel = await withReplyTimeout(model.createConfirmChannel(), STEP_MS_MAX);
  channel.on('error', () => undefined);
  try {
    await withReplyTimeout(roundTrip(channel), STEP_MS_MAX);
  } finally {
    await closeChannel(channel);
  }
}

async function roundTrip(channel: ConfirmChannel): Promise<void> {
  const name = `tintype.doctor.${process.pid}.${Date.now()}`;
  await channel.assertQueue(name, QUORUM);
  try {
    channel.sendToQueue(name, Buffer.from('{}'), { persistent: true, mandatory: true });
    await channel.waitForConfirms();
    const message = await channel.get(name);
    if (message === false) throw new Error('a confirmed message could not be read back');
    channel.ack(message);
  } finally {
    await channel.deleteQueue(name);
  }
}
