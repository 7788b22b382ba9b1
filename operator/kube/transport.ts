/**
 * One HTTP exchange with the API server over kept-alive connections: within its deadline it returns an answer, or a
 * failure that says why. Nothing is repeated here.
 */
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request } from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import type { Credentials } from './credentials.ts';
import { type Answer, type FailureReason, isUnanswered, KubeFailure } from './kube-failure.ts';
import type { KubeMetrics } from './metrics.ts';
import { createResponseTracker } from './response-tracker.ts';
import type { TimedClock } from './timed-clock.ts';

export type Exchange = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  content_type?: string;
  /** Until the head of the response; with `send`, until its end. */
  deadline_ms: number;
  signal?: AbortSignal | undefined;
};

export type WholeAnswer = { status: number; retry_after: string | undefined; body: string };

export type Transport = {
  /** Reads the whole response. */
  send(exchange: Exchange): Promise<Answer<WholeAnswer>>;
  /** Resolves once the head has arrived; the caller reads the rest, and destroys it. */
  open(exchange: Exchange): Promise<Answer<IncomingMessage>>;
  /** Reads what the server sent instead of a stream. */
  readRest(response: IncomingMessage, deadline_ms: number): Promise<Answer<WholeAnswer>>;
  /** For how long the server has been answering without interruption. */
  answering_ms(): number;
  close(): void;
};

type Deps = { credentials: Credentials; clock: TimedClock; metrics: KubeMetrics };

/** For calls; more than that wait for a free socket. */
const SOCKETS_MAX = 128;
const BODY_BYTES_MAX = 256 * 1024 * 1024;

export function createTransport(deps: Deps): Transport {
  const isTls = deps.credentials.server.protocol === 'https:';
  const createAgent = (maxSockets: number) => {
    const settings = { keepAlive: true, maxSockets, scheduling: 'lifo' as const };
    return isTls ? new HttpsAgent(settings) : new HttpAgent(settings);
  };
  // Each watch occupies a connection for its whole life: with an agent of their own, watches never
  // block calls.
  const agents = { calls: createAgent(SOCKETS_MAX), streams: createAgent(Infinity) };
  const answers = createResponseTracker(deps.clock);
  const start = async (agent: Agent, exchange: Exchange) =>
    startRequest(deps, { agent, isTls, options: await deps.credentials.options(), exchange });
  const openBy = async (agent: Agent, exchange: Exchange): Promise<Answer<IncomingMessage>> => {
    const answer = await start(agent, exchange)
      .then((sent) => untilHead(deps, sent, exchange))
      .catch(credentialsFailed);
    if (answer.ok) answers.record();
    else if (isUnanswered(answer.failure)) for (const each of Object.values(agents)) dropIdle(each);
    return answer;
  };
  const readRest = (response: IncomingMessage, deadline_ms: number) =>
    untilEnd(deps.clock, response, deadline_ms);
  return {
    open: (exchange) => openBy(agents.streams, exchange),
    readRest,
    answering_ms: answers.steady_ms,
    send: async (exchange) => {
      const began = deps.clock.elapsed();
      const opened = await openBy(agents.calls, exchange);
      if (!opened.ok) return opened;
      return readRest(opened.value, exchange.deadline_ms - (deps.clock.elapsed() - began));
    },
    close: () => {
      for (const each of Object.values(agents)) each.destroy();
    },
  };
}

type Agent = HttpAgent | HttpsAgent;

type Start = {
  agent: Agent;
  isTls: boolean;
  options: object;
  exchange: Exchange;
};

function startRequest({ credentials }: Deps, { agent, isTls, options, exchange }: Start) {
  const { server } = credentials;
  const body = exchange.body === undefined ? undefined : JSON.stringify(exchange.body);
  const own = 'headers' in options ? options.headers : {};
  const sent = (isTls ? requestTls : request)({
    ...options,
    agent,
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: server.port === '' ? (isTls ? 443 : 80) : Number(server.port),
    method: exchange.method,
    path: `${server.pathname.replace(/\/$/, '')}${exchange.path}`,
    headers: {
      ...(typeof own === 'object' ? own : {}),
      accept: 'application/json',
      'user-agent': 'tintype-operator',
      ...(body === undefined
        ? {}
        : {
            'content-type': exchange.content_type ?? 'application/json',
            'content-length': Buffer.byteLength(body),
          }),
    },
  });
  sent.end(body);
  return sent;
}

function untilHead(
  { clock, metrics, credentials }: Deps,
  sent: ClientRequest,
  { method, deadline_ms, signal }: Exchange,
): Promise<Answer<IncomingMessage>> {
  const began = clock.elapsed();
  return new Promise((resolve) => {
    let isOver = false;
    const finish = (answer: Answer<IncomingMessage>) => {
      // Our own destroy emits another error.
      if (isOver) return;
      isOver = true;
      cancel();
      signal?.removeEventListener('abort', stop);
      const code = answer.ok ? String(answer.value.statusCode) : '<error>';
      const seconds = (clock.elapsed() - began) / 1000;
      metrics.request({ code, method, host: credentials.server.host, seconds });
      resolve(answer);
    };
    const fail = (failure: KubeFailure) => {
      finish({ ok: false, failure });
      sent.destroy();
    };
    const stop = () => fail(new KubeFailure({ reason: 'Stopped', message: 'the caller gave up' }));
    const cancel = clock.after(deadline_ms, () => fail(tooLate(deadline_ms)));
    sent.once('response', (value) => finish({ ok: true, value }));
    sent.on('error', (cause) => finish({ ok: false, failure: brokenRequest(sent, cause) }));
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}

function untilEnd(
  clock: TimedClock,
  response: IncomingMessage,
  deadline_ms: number,
): Promise<Answer<WholeAnswer>> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let isOver = false;
    const finish = (answer: Answer<WholeAnswer>) => {
      isOver = true;
      cancel();
      resolve(answer);
    };
    const fail = (failure: KubeFailure) => {
      finish({ ok: false, failure });
      response.destroy();
    };
    const cancel = clock.after(deadline_ms, () => fail(tooLate(deadline_ms)));
    response.on('data', (piece: Buffer) => {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > BODY_BYTES_MAX) fail(failureOf('Malformed', 'the answer does not end'));
    });
    response.once('end', () => {
      const retry_after = response.headers['retry-after'];
      const body = Buffer.concat(pieces).toString();
      finish({ ok: true, value: { status: response.statusCode ?? 0, retry_after, body } });
    });
    response.on('error', (cause) => fail(broken(cause)));
    // A response that is cut off emits no `end`, only `close`.
    response.once('close', () => {
      if (!isOver) fail(failureOf('Unreachable', 'the answer was cut off'));
    });
  });
}

function failureOf(reason: FailureReason, message: string): KubeFailure {
  return new KubeFailure({ reason, message });
}

function tooLate(ms: number): KubeFailure {
  const seconds = Math.round(ms / 1000);
  return failureOf('Timeout', `the API server did not answer within ${seconds} s`);
}

function broken(cause: Error): KubeFailure {
  const message = `the connection to the API server broke: ${cause.message}`;
  return new KubeFailure({ reason: 'Unreachable', message, cause });
}

/**
 * The server may close a kept-alive connection just as it is reused: then it has not read the
 * request.
 */
export class StaleConnection extends KubeFailure {}

function brokenRequest(sent: ClientRequest, cause: Error): KubeFailure {
  const { reason, message } = broken(cause);
  return sent.reusedSocket
    ? new StaleConnection({ reason, message, cause })
    : new KubeFailure({ reason, message, cause });
}

function credentialsFailed(cause: unknown): Answer<never> {
  const message = `the credentials for the API server cannot be read: ${String(cause)}`;
  return { ok: false, failure: new KubeFailure({ reason: 'Unauthorized', message, cause }) };
}

/**
 * The other idle connections lead to the same machine, which no longer answers: the next call opens
 * a new one.
 */
function dropIdle(agent: Agent): void {
  for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
}
