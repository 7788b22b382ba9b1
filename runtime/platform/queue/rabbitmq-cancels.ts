/**
 * Tells servers of calls that a caller has given up: a running handler is told to stop, and a waiting call never
 * begins. A lost cancel message costs one answer that nobody reads: the call's own deadline ends it.
 */
import type { ConfirmChannel } from 'amqplib';
import { z } from 'zod';
import { type QueueName, QueueTimeout } from './queue.ts';
import { parseMessage, printMessage } from './rabbitmq-message.ts';

export type Cancels = {
  /** Undefined when the caller has already given up. */
  begin(correlationId: string): AbortController | undefined;
  end(correlationId: string): void;
};

/** How many cancels may arrive before the calls they concern. */
const EARLY_MAX = 1000;

const word = z.object({ correlation_id: z.string(), deadline_ms: z.int().nullable() });

/** The queue of the cancels belongs to this channel and is deleted with it. */
export async function subscribeToCancels(
  channel: ConfirmChannel,
  name: QueueName,
): Promise<Cancels> {
  const running = new Map<string, AbortController>();
  const early = new Set<string>();
  const exchange = await declareCancels(channel, name);
  const { queue } = await channel.assertQueue('', { exclusive: true, durable: false });
  await channel.bindQueue(queue, exchange, '');
  const onCancel = (content: Buffer) => {
    const { correlation_id: id, deadline_ms } = word.parse(parseMessage(content));
    const known = running.get(id);
    if (known === undefined) return remember(early, id);
    known.abort(deadline_ms === null ? new CallerGone(name) : new QueueTimeout(name, deadline_ms));
  };
  await channel.consume(queue, (message) => quietly(() => message && onCancel(message.content)), {
    noAck: true,
  });
  return {
    begin: (id) => {
      if (early.delete(id)) return undefined;
      const stop = new AbortController();
      running.set(id, stop);
      return stop;
    },
    end: (id) => void running.delete(id),
  };
}

export async function declareCancels(channel: ConfirmChannel, name: QueueName): Promise<string> {
  const { exchange } = await channel.assertExchange(exchangeOf(name), 'fanout', { durable: true });
  return exchange;
}

export function sendCancel(
  channel: ConfirmChannel,
  { name, correlationId, deadlineMs }: Cancel,
): void {
  const said = { correlation_id: correlationId, deadline_ms: deadlineMs };
  quietly(() => channel.publish(exchangeOf(name), '', printMessage(said)));
}

/** `deadlineMs` is set when the deadline ended the wait. */
export type Cancel = { name: QueueName; correlationId: string; deadlineMs: number | null };

class CallerGone extends Error {
  constructor(name: QueueName) {
    super(`the caller of the ${name} queue gave up`);
    this.name = 'CallerGone';
  }
}

function exchangeOf(name: QueueName): string {
  return `tintype.${name}.cancels`;
}

function remember(early: Set<string>, id: string): void {
  early.add(id);
  const [oldest] = early;
  if (early.size > EARLY_MAX && oldest !== undefined) early.delete(oldest);
}

/** Ignores errors: a lost cancel is harmless, and a closing channel reports itself. */
function quietly(work: () => unknown): void {
  try {
    work();
  } catch {
    // Ignored.
  }
}
