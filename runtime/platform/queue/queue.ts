/**
 * Doorbells and calls between processes: one interface over an in-process queue and over RabbitMQ. PostgreSQL is the
 * source of truth: a message carries ids, may be lost or come twice, and is never redelivered by the queue; sweeping
 * jobs find work whose doorbell was lost.
 */

export type Queue = {
  /**
   * Rings a doorbell. Resolves when the queue has accepted the message, not when it was handled.
   */
  publish(name: QueueName, message: object): Promise<void>;
  consume(
    name: QueueName,
    options: { slots: number },
    handle: DoorbellHandler,
  ): Promise<Subscription>;
  /**
   * Sends a call and waits for the answer. Throws QueueBusy when it is not accepted now,
   * QueueTimeout at the deadline, the signal's reason when the caller gives up, and otherwise the
   * handler's error.
   */
  call(name: QueueName, payload: unknown, options: CallOptions): Promise<unknown>;
  serve(
    name: QueueName,
    options: { slots: number; waiting_max: number },
    handle: CallHandler,
  ): Promise<Subscription>;
  /**
   * Checks that the queue of doorbells accepts a message; if it refuses, the queue is deleted with
   * its content and created again. For one caller at a time, now and then.
   */
  repair(name: QueueName): Promise<'sound' | 'renewed'>;
  /** The messages that nobody has taken yet. */
  depths(): Promise<QueueDepth[]>;
  /** Accepts nothing new and waits for the running handlers. */
  close(): Promise<void>;
};

export type QueueDepth = { queue: string; waiting: number; listeners: number };

/** The name of a queue of doorbells, in depths and on a broker. */
export function doorbellsOf(name: QueueName): string {
  return `tintype.${name}.doorbells`;
}

/** The name of a queue of calls, in depths and on a broker. */
export function callsOf(name: QueueName): string {
  return `tintype.${name}.calls`;
}

export type QueueName = 'ingest' | 'render';
export type DoorbellHandler = (message: unknown) => Promise<void>;
export type CallHandler = (payload: unknown, signal: AbortSignal) => Promise<unknown>;
export type CallOptions = { deadline_ms: number; signal?: AbortSignal };
/** `stop` accepts nothing new and resolves when the running handlers have ended. */
export type Subscription = { stop(): Promise<void> };

/**
 * Too many calls wait, or the queue takes none now; `retry_after_seconds` estimates when one would
 * be accepted.
 */
export class QueueBusy extends Error {
  readonly retry_after_seconds: number;

  constructor(name: QueueName, retryAfterSeconds: number, why = `the ${name} queue is full`) {
    super(why);
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
