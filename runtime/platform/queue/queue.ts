/**
 * Doorbells and calls between processes: one interface over an in-process queue and over RabbitMQ.
 * PostgreSQL is the truth: a message carries ids, may be lost or come twice, and is never redelivered
 * by the queue; the sweeping jobs find what a lost doorbell left waiting.
 */

export type Queue = {
  /** Rings a doorbell. Resolves when the queue has taken the message, not when it was handled. */
  publish(name: QueueName, message: object): Promise<void>;
  consume(
    name: QueueName,
    options: { slots: number },
    handle: (message: unknown) => Promise<void>,
  ): Promise<Subscription>;
  /**
   * Asks and waits for the answer. Throws QueueBusy when too many wait already, QueueTimeout at the
   * deadline, the signal's reason when the caller gives up, and else what the handler threw.
   */
  call(name: QueueName, payload: unknown, options: CallOptions): Promise<unknown>;
  serve(
    name: QueueName,
    options: { slots: number; waiting_max: number },
    handle: (payload: unknown, signal: AbortSignal) => Promise<unknown>,
  ): Promise<Subscription>;
  /**
   * Whether what holds the doorbells takes one; where it refuses it, it is thrown away with what it holds and begins
   * anew. For one caller at a time, now and then.
   */
  mend(name: QueueName): Promise<'sound' | 'renewed'>;
  /** What nobody has taken yet. */
  depths(): Promise<QueueDepth[]>;
  /** Takes nothing new and waits for the handlers that run. */
  close(): Promise<void>;
};

export type QueueDepth = { queue: string; waiting: number; listeners: number };

/** What a queue of doorbells is called, in depths and on a broker. */
export function doorbellsOf(name: QueueName): string {
  return `tintype.${name}.doorbells`;
}

/** What a queue of calls is called there. */
export function callsOf(name: QueueName): string {
  return `tintype.${name}.calls`;
}

export type QueueName = 'ingest' | 'render';
export type CallOptions = { deadline_ms: number; signal?: AbortSignal };
/** `stop` takes nothing new and resolves when the running handlers have ended. */
export type Subscription = { stop(): Promise<void> };

/** Too many calls wait; `retry_after_seconds` estimates when one would be taken. */
export class QueueBusy extends Error {
  readonly retry_after_seconds: number;

  constructor(name: QueueName, retryAfterSeconds: number) {
    super(`the ${name} queue is full`);
    this.name = 'QueueBusy';
    this.retry_after_seconds = retryAfterSeconds;
  }
}

/** No answer before the call's deadline; the handler, if it ran, was told to stop. */
export class QueueTimeout extends Error {
  constructor(name: QueueName, deadlineMs: number) {
    super(`no answer from the ${name} queue within ${deadlineMs} ms`);
    this.name = 'QueueTimeout';
  }
}
