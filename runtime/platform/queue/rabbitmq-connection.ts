/**
 * One connection to RabbitMQ that reconnects: everything on it is set up again after every reconnect. All errors have a
 * listener, because an unhandled one ends the process.
 */
import type { Duplex } from 'node:stream';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { Advice, ServerUnavailable } from '../advice.ts';
import type { Log } from '../log.ts';
import { withTimeout } from '../with-timeout.ts';

export type RabbitConnection = {
  /** Runs now if connected, and after every reconnect. */
  whenConnected(work: (model: ChannelModel) => Promise<void>): Promise<void>;
  /** Undefined between a loss and the reconnect. */
  current(): ChannelModel | undefined;
  /**
   * When short of memory or disk, the broker reads nothing from publishers until it has room again.
   */
  isBlocked(): boolean;
  /** Why nothing can be sent now, if nothing can. */
  whyAway(): string;
  /** Called with the broker's reason each time a block begins. */
  onBlocked(tell: (reason: string) => void): void;
  close(): Promise<void>;
};

export const UNAVAILABLE = 'the broker is unavailable';
const HEARTBEAT_SECONDS = 10;
const CONNECT_MS_MAX = 5000;
/** A starting broker may accept a connection and not answer on it. */
const SETUP_MS_MAX = 5000;
const CLOSE_MS_MAX = 3000;
/** About one line a minute. */
const ATTEMPTS_A_LINE = 12;
type Scheduled = { attempt: number; error: Error };
const RECOVERY = { initialDelay: 100, maxDelay: 5000, initialMaxRetries: 5 };

/**
 * Throws Advice when the broker refuses us, ServerUnavailable when it cannot be reached; later losses are logged
 * and the connection is restored.
 */
export async function connectRabbit(url: string, log: Log): Promise<RabbitConnection> {
  const works: ((model: ChannelModel) => Promise<void>)[] = [];
  let model: ChannelModel | undefined;
  const blocks = watchBlocks(log);
  const setup = async (connected: ChannelModel) => {
    boundClose(connected);
    blocks.watch(connected);
    // Until setup has ended, nobody else listens to the connection's errors.
    connected.on('error', (error) => {
      if (model !== connected)
        log.warn('the broker closed a connection during its handshake', { error });
    });
    for (const work of works) await withReplyTimeout(work(connected), SETUP_MS_MAX);
    model = connected;
    connected.on('close', () => {
      if (model === connected) model = undefined;
    });
  };
  const address = new URL(url);
  if (!address.searchParams.has('heartbeat')) {
    address.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  }
  const connection = await connect(address.href, {
    // Without it every small message waits for TCP's delayed acknowledgement.
    noDelay: true,
    timeout: CONNECT_MS_MAX,
    recovery: { ...RECOVERY, setup },
  }).catch((error: unknown) => {
    throw adviceOn(error, address);
  });
  connection.on('error', (error) => log.warn('the broker reported an error', { error }));
  connection.on('disconnect', (error) => log.warn(UNAVAILABLE, { error }));
  connection.on('reconnect-scheduled', ({ attempt, error }: Scheduled) => {
    const attempts = attempt - 1;
    if (attempts % ATTEMPTS_A_LINE === 1) {
      log.warn('the broker cannot be used yet', { attempts, error });
    }
  });
  connection.on('connect', () => log.info('the broker is available again'));
  connection.on('handler-error', (error) => log.error('a handler of the broker failed', { error }));
  return {
    whenConnected: async (work) => {
      works.push(work);
      if (model !== undefined) await work(model);
    },
    current: () => model,
    isBlocked: () => blocks.reason(model) !== undefined,
    whyAway: () => {
      const reason = blocks.reason(model);
      return reason === undefined ? UNAVAILABLE : `the broker accepts no messages (${reason})`;
    },
    onBlocked: blocks.onBegin,
    close: () => connection.close(),
  };
}

/**
 * The broker reports a block at the first message that it does not accept; when a connection ends,
 * its block ends too.
 */
function watchBlocks(log: Log) {
  const listeners: ((reason: string) => void)[] = [];
  let blocked: { model: ChannelModel; reason: string } | undefined;
  return {
    watch: (model: ChannelModel) => {
      model.on('blocked', (reason) => {
        blocked = { model, reason };
        log.warn('the broker accepts no messages', { reason });
        for (const listener of listeners) listener(reason);
      });
      model.on('unblocked', () => {
        blocked = undefined;
        log.info('the broker accepts messages again');
      });
    },
    reason: (model: ChannelModel | undefined) =>
      model !== undefined && model === blocked?.model ? blocked.reason : undefined,
    onBegin: (listener: (reason: string) => void) => void listeners.push(listener),
  };
}

/**
 * Limits closing: amqplib closes a connection whose setup failed before the next attempt, and would
 * wait forever for a broker that goes away without a goodbye. A broker with an alarm never reads
 * that we closed, and so never ends its side: the socket would keep our process from ending.
 */
function boundClose(model: ChannelModel): void {
  const close = model.close.bind(model);
  model.close = async () => {
    await withDeadline(close(), CLOSE_MS_MAX);
    // The error ends what amqplib still waits for, and its heartbeats.
    socketOf(model).destroy(new Error(`the broker did not say goodbye within ${CLOSE_MS_MAX} ms`));
  };
}

/** Not in amqplib's types. */
function socketOf({ connection }: ChannelModel): Duplex {
  const { stream } = connection as typeof connection & { stream: Duplex };
  return stream;
}

type AdviceTable = readonly [pattern: RegExp, what: string][];

const settingsAdvice: AdviceTable = [
  // Match names, not numbers, because host names and thread ids also contain such numbers.
  [/ACCESS.REFUSED/, 'refuses the user or its password: check TINTYPE_AMQP_URL'],
  [/NOT.ALLOWED|ConnectionOpenOk/, 'has no such virtual host: check the path of TINTYPE_AMQP_URL'],
];
const serverAdvice: AdviceTable = [
  [/ENOTFOUND|EAI_AGAIN/, 'cannot be found: check the host in TINTYPE_AMQP_URL'],
  [/ECONNREFUSED/, 'does not listen there: check TINTYPE_AMQP_URL and whether RabbitMQ runs'],
  // OpenSSL's own message has several lines with a thread id.
  [
    /SSL routines/,
    'speaks no TLS at that port: check the port of TINTYPE_AMQP_URL, or write amqp: there',
  ],
  [
    /CERT|certificate/,
    'has a certificate that is not trusted here: check who issued it, and for which host',
  ],
];

function adviceOn(error: unknown, { host }: URL): Advice {
  const { message = '', code = '' } = error as { message?: string; code?: string };
  const find = (table: AdviceTable) =>
    table.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1];
  const mistake = find(settingsAdvice);
  const options = { cause: error };
  if (mistake !== undefined) return new Advice(`The broker at ${host} ${mistake}.`, options);
  const what = find(serverAdvice) ?? `cannot be used (${message}): check TINTYPE_AMQP_URL`;
  return new ServerUnavailable(`The broker at ${host} ${what}.`, options);
}

/**
 * Limited as well: if the connection ends at the same moment, amqplib would wait forever for the
 * broker's goodbye.
 */
export function closeChannel(channel: Channel): Promise<void> {
  return withDeadline(channel.close(), CLOSE_MS_MAX);
}

/** Rejects when the broker does not answer in time. */
export function withReplyTimeout<T>(work: Promise<T>, ms: number): Promise<T> {
  return withTimeout(work, ms, () => new Error(`no answer within ${ms} ms`));
}

/**
 * Gives up silently after `ms`: a process that ends does not wait for a broker that does not
 * answer.
 */
export async function withDeadline(work: Promise<unknown>, ms: number): Promise<void> {
  await withReplyTimeout(work, ms).catch(() => undefined);
}
