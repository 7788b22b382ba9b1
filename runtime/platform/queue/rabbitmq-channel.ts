/** A channel that exists whenever the connection does: opened again after either was lost. */
import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { Log } from '../log.ts';
import { withTimeout } from '../with-timeout.ts';
import { closeChannel, type RabbitConnection, UNAVAILABLE } from './rabbitmq-connection.ts';

export type ManagedChannel = {
  /**
   * Waits for the channel up to the deadline, then throws QueueAway; throws at once while the
   * broker accepts nothing.
   */
  ready(deadlineMs: number): Promise<ConfirmChannel>;
  /** Also undefined while the broker accepts nothing. */
  current(): ConfirmChannel | undefined;
  /** Why there is no current one. */
  whyAway(): string;
  /**
   * `tell` is called with the reason when pending messages may get no answer any more: the channel
   * ended, or the broker accepts nothing. Returns the function that unsubscribes.
   */
  onLost(tell: (why: string) => void): () => void;
  close(): Promise<void>;
};

/** The broker cannot be reached now. */
export class QueueAway extends Error {
  constructor(why = UNAVAILABLE) {
    super(why);
    this.name = 'QueueAway';
  }
}

const REOPEN_MS = 500;

/** `prepare` declares and consumes what belongs to the channel, each time the channel is opened. */
export async function openManagedChannel(
  { connection, log }: { connection: RabbitConnection; log: Log },
  prepare: (channel: ConfirmChannel) => Promise<void>,
): Promise<ManagedChannel> {
  let channel: ConfirmChannel | undefined;
  let isClosed = false;
  const waiting = new Set<(channel: ConfirmChannel) => void>();
  const losses = new Set<(why: string) => void>();
  const tellLost = () => {
    for (const tell of losses) tell(connection.whyAway());
  };
  connection.onBlocked(tellLost);
  const open = async (model: ChannelModel) => {
    if (isClosed) return;
    const opened = await model.createConfirmChannel();
    // Every pending publish listens for its returned message.
    opened.setMaxListeners(0);
    opened.on('error', (error) => log.warn('a channel of the broker failed', { error }));
    opened.on('close', () => {
      if (channel === opened) channel = undefined;
      tellLost();
      reopen();
    });
    await prepare(opened);
    // Closed meanwhile: nobody waits for this channel, and nobody would handle its messages.
    if (isClosed) return closeChannel(opened);
    channel = opened;
    for (const take of waiting) take(opened);
    waiting.clear();
  };
  /** Only when the connection outlived its channel; otherwise the reconnect opens the channel. */
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
      if (isClosed || connection.isBlocked()) throw new QueueAway(connection.whyAway());
      return channel ?? waitFor(waiting, deadlineMs);
    },
    current: () => (connection.isBlocked() ? undefined : channel),
    whyAway: connection.whyAway,
    onLost: (tell) => {
      losses.add(tell);
      return () => losses.delete(tell);
    },
    close: async () => {
      isClosed = true;
      const closing = channel;
      channel = undefined;
      if (closing !== undefined) await closeChannel(closing);
    },
  };
}

function waitFor(
  waiting: Set<(channel: ConfirmChannel) => void>,
  deadlineMs: number,
): Promise<ConfirmChannel> {
  const { promise, resolve } = Promise.withResolvers<ConfirmChannel>();
  waiting.add(resolve);
  return withTimeout(promise, deadlineMs, () => new QueueAway()).finally(() =>
    waiting.delete(resolve),
  );
}
