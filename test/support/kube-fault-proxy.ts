/**
 * A proxy between a client and a real API server. It cuts watches in every way that networks do, repeats and reorders
 * their lines, delays requests, and stops responding. It speaks HTTP to the client to distinguish lines and paths.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { createLineFaults, type LineFault, type LineFaults } from './kube-line-faults.ts';
import type { PlaneAddress } from './kube-request.ts';

export type KubeFaultProxy = PlaneAddress & {
  /**
   * Ends open watches, by a reset or normally: `cutWatches` now, `cutNextLine` within the next
   * line.
   */
  cutWatches(how: 'reset' | 'end'): void;
  cutNextLine(how: 'reset' | 'end'): void;
  /** Freezes open connections without closing them; new connections work. */
  freeze(): void;
  /** Sets the fault for the lines of watches from now on. */
  lines(fault: LineFault): void;
  /** Rejects the next `times` requests. */
  refuse(refusal: { times: number; status: number; retry_after?: number; body?: object }): void;
  /** Holds requests of this kind until the returned function is called. */
  hold(kind: Held): () => void;
  /** The number of requests without a response: held ones, and those on frozen connections. */
  kept(): number;
  /** The number of open watches. */
  watches(): number;
  /** The number of connections opened so far. */
  connections(): number;
  /** All requests in order, with the status of the response. */
  requests: { method: string; path: string; status?: number }[];
  close(): Promise<void>;
};

type Held = 'watch' | 'list';
type OpenWatch = { socket: Socket; response: ServerResponse; faults: LineFaults; stop(): void };
type State = {
  target: PlaneAddress;
  agent: Agent;
  watches: Set<OpenWatch>;
  sockets: Set<Socket>;
  frozen: Set<Socket>;
  fault: LineFault;
  refusals: { status: number; retry_after?: number; body?: object }[];
  gates: Map<Held, Promise<void>>;
  kept: Set<ServerResponse>;
  requests: { method: string; path: string; status?: number }[];
};

export async function startKubeFaultProxy(target: PlaneAddress): Promise<KubeFaultProxy> {
  const state = createState(target);
  const server = createServer((incoming, response) => void handle(state, incoming, response));
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    state.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => state.sockets.delete(socket));
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    ...target,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: '',
    cutWatches: (how) => {
      for (const watch of state.watches) cut(watch, how);
    },
    cutNextLine: (how) => {
      for (const watch of state.watches) watch.faults.cutNext(() => cut(watch, how));
    },
    freeze: () => {
      for (const socket of state.sockets) state.frozen.add(socket);
    },
    lines: (fault) => {
      state.fault = fault;
      for (const watch of state.watches) watch.faults.set(fault);
    },
    refuse: ({ times, ...refusal }) => {
      state.refusals.push(...Array.from({ length: times }, () => refusal));
    },
    hold: (kind) => {
      let release: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      state.gates.set(kind, gate);
      return () => {
        state.gates.delete(kind);
        release();
      };
    },
    kept: () => state.kept.size,
    watches: () => state.watches.size,
    connections: () => connections,
    requests: state.requests,
    close: async () => {
      for (const socket of state.sockets) socket.destroy();
      state.agent.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function createState(target: PlaneAddress): State {
  return {
    target,
    agent: new Agent({ keepAlive: true }),
    watches: new Set(),
    sockets: new Set(),
    frozen: new Set(),
    fault: 'none',
    refusals: [],
    gates: new Map(),
    kept: new Set(),
    requests: [],
  };
}

async function handle(state: State, incoming: IncomingMessage, response: ServerResponse) {
  const { socket, method = '', url = '' } = incoming;
  if (state.frozen.has(socket)) {
    keep(state, response);
    return;
  }
  const parameters = new URL(url, 'http://proxy').searchParams;
  const isWatch = parameters.has('watch');
  const asked: State['requests'][number] = { method, path: url };
  state.requests.push(asked);
  const refusal = state.refusals.shift();
  if (refusal !== undefined) {
    answer(response, refusal);
    return;
  }
  await passGate(state, isWatch ? 'watch' : parameters.has('limit') && 'list', response);
  // The client may have given up in the meantime.
  if (socket.destroyed) return;
  const sent = request(`${state.target.url}${url}`, {
    ...(isWatch ? {} : { agent: state.agent }),
    ca: state.target.ca,
    method,
    headers: { ...incoming.headers, host: new URL(state.target.url).host },
  });
  incoming.pipe(sent);
  sent.on('error', () => socket.resetAndDestroy());
  sent.once('response', (upstream) => {
    if (upstream.statusCode !== undefined) asked.status = upstream.statusCode;
    const pass = isWatch && upstream.statusCode === 200 ? passWatch : passAnswer;
    pass(state, { upstream, response, socket });
  });
  response.once('close', () => response.writableFinished || sent.destroy());
}

async function passGate(state: State, kind: Held | false, response: ServerResponse) {
  const gate = kind && state.gates.get(kind);
  if (!gate) return;
  keep(state, response);
  await gate;
  state.kept.delete(response);
}

function keep(state: State, response: ServerResponse): void {
  state.kept.add(response);
  response.once('close', () => state.kept.delete(response));
}

type Passing = { upstream: IncomingMessage; response: ServerResponse; socket: Socket };

function answer(
  response: ServerResponse,
  { status, retry_after, body }: { status: number; retry_after?: number; body?: object },
): void {
  const said = body ?? { kind: 'Status', code: status, message: 'refused by the proxy' };
  if (retry_after !== undefined) response.setHeader('retry-after', String(retry_after));
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said));
}

function passAnswer(state: State, { upstream, response, socket }: Passing): void {
  response.writeHead(upstream.statusCode ?? 502, withoutLength(upstream));
  upstream.on('data', (piece) => state.frozen.has(socket) || response.write(piece));
  upstream.once('end', () => state.frozen.has(socket) || response.end());
  upstream.on('error', () => socket.resetAndDestroy());
}

function passWatch(state: State, { upstream, response, socket }: Passing): void {
  response.writeHead(200, withoutLength(upstream)).flushHeaders();
  const write = (text: string) => {
    if (!state.frozen.has(socket) && !response.writableEnded) response.write(text);
  };
  const watch: OpenWatch = {
    socket,
    response,
    faults: createLineFaults(write),
    stop: () => upstream.destroy(),
  };
  watch.faults.set(state.fault);
  state.watches.add(watch);
  upstream.setEncoding('utf8');
  upstream.on('data', (text: string) => watch.faults.take(text));
  upstream.once('end', () => state.frozen.has(socket) || response.end());
  upstream.on('error', () => state.frozen.has(socket) || socket.resetAndDestroy());
  response.once('close', () => {
    state.watches.delete(watch);
    upstream.destroy();
  });
}

function withoutLength({ headers }: IncomingMessage) {
  const { 'content-length': _length, connection: _connection, ...rest } = headers;
  return rest;
}

function cut(watch: OpenWatch, how: 'reset' | 'end'): void {
  watch.stop();
  if (how === 'reset') watch.socket.resetAndDestroy();
  else watch.response.end();
}
