/**
 * Calls over RabbitMQ: a request with a deadline, answered directly to the channel that sent it (direct reply-to). The
 * broker drops a request that waited past its deadline, and rejects one at once when the queue is full.
 */
import { randomUUID } from 'node:crypto';
import type { ConfirmChannel, ConsumeMessage, Message } from 'amqplib';
import { z } from 'zod';
import type { Log } from '../log.ts';
import { continueTrace, traceHeaders } from '../trace-context.ts';
import {
  type CallHandler,
  type CallOptions,
  QueueBusy,
  type QueueName,
  QueueTimeout,
  type Subscription,
} from './queue.ts';
import {
  type Cancels,
  declareCancels,
  sendCancel,
  subscribeToCancels,
} from './rabbitmq-cancels.ts';
import { type ManagedChannel, openManagedChannel } from './rabbitmq-channel.ts';
import { type RabbitDeps, subscribe } from './rabbitmq-doorbells.ts';
import { parseMessage, printMessage } from './rabbitmq-message.ts';
import { callQueue, declare, keepDeclared } from './rabbitmq-names.ts';
import {
  type BusyEstimate,
  createBusyEstimate,
  createPacer,
  PACE_HEADER,
} from './rabbitmq-pace.ts';
import { tracedMessage } from './traced-message.ts';

const REPLIES = 'amq.rabbitmq.reply-to';
const NAMES: readonly QueueName[] = ['render'];
const RETRY_SECONDS = 2;

export type Caller = {
  call(name: QueueName, payload: unknown, options: CallOptions): Promise<unknown>;
  close(): Promise<void>;
};

type Question = { name: QueueName; resolve(value: unknown): void; reject(error: unknown): void };

export async function createCaller(deps: RabbitDeps, waitingMax: number): Promise<Caller> {
  const open = new Map<string, Question>();
  const estimate = createBusyEstimate(waitingMax);
  const kept = await openManagedChannel(deps, async (channel) => {
    const declareAll = async () => {
      for (const name of NAMES) {
        await declare(channel, callQueue(name, waitingMax));
        await declareCancels(channel, name);
      }
    };
    await keepDeclared(channel, declareAll);
    // The queue is missing, so nobody hears the call; it is declared again in a moment.
    channel.on('return', ({ properties }: Message) => {
      const question = open.get(properties.correlationId);
      question?.reject(new QueueBusy(question.name, RETRY_SECONDS));
    });
    const onReply = (message: ConsumeMessage | null) => {
      estimate.observe(message?.properties.headers);
      settle(open, message);
    };
    await channel.consume(REPLIES, onReply, { noAck: true });
  });
  kept.onLost((why) => {
    for (const { name, reject } of open.values()) reject(new QueueBusy(name, RETRY_SECONDS, why));
  });
  return {
    call: (name, payload, options) =>
      tracedMessage('call', name, () =>
        ask({ kept, open, waitingMax, estimate }, { name, payload, ...options }),
      ),
    close: () => kept.close(),
  };
}

type Asking = {
  kept: ManagedChannel;
  open: Map<string, Question>;
  waitingMax: number;
  estimate: BusyEstimate;
};

async function ask(
  { kept, open, waitingMax, estimate }: Asking,
  { name, payload, deadline_ms, signal }: { name: QueueName; payload: unknown } & CallOptions,
): Promise<unknown> {
  signal?.throwIfAborted();
  const channel = kept.current();
  if (channel === undefined) throw new QueueBusy(name, RETRY_SECONDS, kept.whyAway());
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const correlationId = randomUUID();
  open.set(correlationId, { name, resolve, reject });
  const giveUp = (reason: unknown, deadlineMs: number | null) => {
    reject(reason);
    sendCancel(channel, { name, correlationId, deadlineMs });
  };
  const onAbort = () => giveUp(signal?.reason, null);
  signal?.addEventListener('abort', onAbort, { once: true });
  const onLate = () => giveUp(new QueueTimeout(name, deadline_ms), deadline_ms);
  const timer = setTimeout(onLate, deadline_ms);
  // The broker accepts only whole milliseconds, and closes a channel that sends anything else.
  const expiration = Math.ceil(deadline_ms);
  const terms = {
    replyTo: REPLIES,
    correlationId,
    expiration,
    mandatory: true,
    headers: traceHeaders(),
  };
  try {
    const { name: queue } = callQueue(name, waitingMax);
    // Throws when the channel is just closing.
    channel.sendToQueue(queue, printMessage(payload), terms, (error) => {
      // A negative confirm means that the queue is full.
      if (error) void estimate.busy(channel, { name, queue }).then(reject);
    });
    return await promise;
  } finally {
    open.delete(correlationId);
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function settle(open: Map<string, Question>, message: ConsumeMessage | null): void {
  const question = open.get(message?.properties.correlationId ?? '');
  if (message === null || question === undefined) return;
  try {
    const reply = parseReply(question.name, message);
    if (reply.isAnswered) question.resolve(reply.value);
    else question.reject(reply.error);
  } catch (error) {
    question.reject(error);
  }
}

const FAILED = 'failed';
const failure = z.object({
  name: z.string(),
  message: z.string(),
  retry_after_seconds: z.number().optional(),
  deadline_ms: z.number().optional(),
});

type Reply = { isAnswered: true; value: unknown } | { isAnswered: false; error: Error };

function parseReply(name: QueueName, { content, properties }: ConsumeMessage): Reply {
  const value = parseMessage(content);
  if (properties.type !== FAILED) return { isAnswered: true, value };
  const said = failure.parse(value);
  if (said.name === 'QueueBusy') {
    return {
      isAnswered: false,
      error: new QueueBusy(name, said.retry_after_seconds ?? RETRY_SECONDS),
    };
  }
  if (said.name === 'QueueTimeout') {
    return { isAnswered: false, error: new QueueTimeout(name, said.deadline_ms ?? 0) };
  }
  return { isAnswered: false, error: new Error(said.message) };
}

export function serveCalls(
  deps: RabbitDeps,
  { name, slots, waitingMax }: { name: QueueName; slots: number; waitingMax: number },
  handle: CallHandler,
): Promise<Subscription> {
  return subscribe(deps, slots, async (channel, take) => {
    const queue = callQueue(name, waitingMax);
    await declare(channel, queue);
    const cancels = await subscribeToCancels(channel, name);
    const answering = { channel, cancels, name, log: deps.log, pacer: createPacer() };
    const traced: CallHandler = (payload, signal) =>
      tracedMessage('process', name, () => handle(payload, signal));
    const answer = (message: ConsumeMessage) =>
      take(() =>
        continueTrace(message.properties.headers, () => answerCall(answering, message, traced)),
      );
    return { queue: queue.name, take: answer };
  });
}

type Answering = {
  channel: ConfirmChannel;
  cancels: Cancels;
  name: QueueName;
  log: Log;
  pacer: ReturnType<typeof createPacer>;
};

/** The caller's deadline also ends the handler: nobody reads a later answer. */
async function answerCall(
  { channel, cancels, name, log, pacer }: Answering,
  { content, properties }: ConsumeMessage,
  handle: CallHandler,
): Promise<void> {
  const correlationId = String(properties.correlationId);
  const stop = cancels.begin(correlationId);
  if (stop === undefined) return;
  const deadlineMs = Number(properties.expiration ?? 0);
  const timer = setTimeout(() => stop.abort(new QueueTimeout(name, deadlineMs)), deadlineMs);
  const startedAt = performance.now();
  const send = (value: unknown, type: string) => {
    const headers = { [PACE_HEADER]: pacer.ended(startedAt) };
    reply(channel, properties.replyTo, { body: printMessage(value), correlationId, type, headers });
  };
  try {
    send(await handle(readCall({ name, log }, content), stop.signal), 'answer');
  } catch (error) {
    send(printFailure(error), FAILED);
  } finally {
    clearTimeout(timer);
    cancels.end(correlationId);
  }
}

function readCall({ name, log }: { name: QueueName; log: Log }, content: Buffer): unknown {
  try {
    return parseMessage(content);
  } catch (error) {
    log.error('a request from the broker could not be parsed', { queue: name, error });
    throw error;
  }
}

function printFailure(error: unknown): z.infer<typeof failure> {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const retry =
    error instanceof QueueBusy ? { retry_after_seconds: error.retry_after_seconds } : {};
  return { name, message, ...retry };
}

/** A caller that is gone accepts no answer, and a lost channel sends none. */
function reply(
  channel: ConfirmChannel,
  to: unknown,
  { body, ...terms }: { body: Buffer; correlationId: string; type: string; headers: object },
): void {
  if (typeof to !== 'string') return;
  try {
    channel.publish('', to, body, { ...terms });
  } catch {
    // The channel's own events report it.
  }
}
