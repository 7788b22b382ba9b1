/** A channel that is there whenever the connection is: opened again when either was lost. */
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { Log } from '../log.ts';
import { closeChannel, type RabbitConnection } from './rabbitmq-connection.ts';

export type KeptChannel = {
  /** Waits for the channel at most so long; then it throws QueueAway. */
  ready(deadlineMs: number): Promise<ConfirmChannel>;
  current(): ConfirmChannel | undefined;
  close(): Promise<void>;
};

/** The broker cannot be asked now. */
export class QueueAway extends Error {
  constructor() {
    super('the broker is away');
    this.name = 'QueueAway';
  }
}

const REOPEN_MS = 500;

/** `prepare` declares and consumes what belongs to the channel, each time that it is opened. */
export async function keepChannel(
  { connection, log }: { connection: RabbitConnection; log: Log },
  prepare: (channel: ConfirmChannel) => Promise<void>,
): Promise<KeptChannel> {
  let channel: ConfirmChannel | undefined;
  let isClosed = false;
  const waiting = new Set<(channel: ConfirmChannel) => void>();
  const open = async (model: ChannelModel) => {
    if (isClosed) return;
    const opened = await model.createConfirmChannel();
    // Every publish under way listens for the channel's end.
    opened.setMaxListeners(0);
    opened.on('error', (error) => log.warn('a channel of the broker failed', { error }));
    opened.on('close', () => {
      if (channel === opened) channel = undefined;
      reopen();
    });
    await prepare(opened);
    // Nobody waits for it any more, and what it listens to would be brought to nobody.
    if (isClosed) return closeChannel(opened);
    channel = opened;
    for (const take of waiting) take(opened);
    waiting.clear();
  };
  /** Only where the connection outlived its channel: else the reconnect opens it. */
  const reopen = () => {
    setTimeout(() => {
      const model = connection.current();
      if (isClosed || channel !== undefined || model === undefined) return;
      open(model).catch((error) => {
        log.warn('a channel of the broker could not be opened', { error });
      });
    }, REOPEN_MS).unref();
  };
  await connection.whenConnected(open);
  return {
    ready: async (deadlineMs) => {
      if (isClosed) throw new QueueAway();
      return channel ?? waitFor(waiting, deadlineMs);
    },
    current: () => channel,
    close: async () => {
      isClosed = true;
      const closing = channel;
      channel = undefined;
      if (closing !== undefined) await closeChannel(closing);
    },
  };
}

async function waitFor(
  waiting: Set<(channel: ConfirmChannel) => void>,
  deadlineMs: number,
): Promise<ConfirmChannel> {
  const { promise, resolve, reject } = Promise.withResolvers<ConfirmChannel>();
  waiting.add(resolve);
  const timer = setTimeout(() => reject(new QueueAway()), deadlineMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    waiting.delete(resolve);
  }
}
