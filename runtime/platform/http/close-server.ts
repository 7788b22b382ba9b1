/**
 * Closes an HTTP server without leaving a request unanswered. Connections already made are accepted; later ones are
 * refused. A request on an open connection is answered with `connection: close`; a quiet connection is closed after a
 * while, and all remaining ones at the deadline. Node's own `close` ends quiet connections at once, while a request may
 * be on its way.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

export type Closing = { close(terms: ClosingTerms): Promise<void> };

export type ClosingTerms = {
  /** When all remaining connections are closed. */
  deadline_ms: number;
  /** How long a connection without traffic is kept. */
  quiet_ms?: number | undefined;
};

const SWEEP_MS = 50;
/** A client that sends request after request is rarely quiet for longer. */
const QUIET_MS = 2000;
/** The server is calm when nobody connected for this long, plus one turn of the event loop. */
const CALM_MS = 50;
/** How long it waits for calm. After that it only accepts those that wait already. */
const CALM_MS_MAX = 500;
/** After this time a server stops listening even if more connections arrive than it accepts. */
const ACCEPTING_MS_MAX = 5000;

type Connection = {
  answers: Set<ServerResponse>;
  /** Since when nothing has been read, and the number of bytes read by then. */
  quietSince: number;
  bytesRead: number;
};

/** Call before the server listens. */
export function prepareToClose(server: Server): Closing {
  const connections = new Map<Socket, Connection>();
  const state = { isClosing: false, taken: 0 };
  server.on('connection', (socket: Socket) => {
    state.taken += 1;
    const quietSince = performance.now();
    connections.set(socket, { answers: new Set(), quietSince, bytesRead: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  // Runs before the handler that answers.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (state.isClosing) response.setHeader('connection', 'close');
    const answers = connections.get(socket)?.answers;
    answers?.add(response);
    response.once('close', () => answers?.delete(response));
  });
  return {
    close: async (terms) => {
      if (!server.listening) return;
      await waitUntilIdle(() => state.taken);
      state.isClosing = true;
      await drain(server, connections, terms);
    },
  };
}

/**
 * Connections that wait to be accepted are reset when the server stops listening. So listening ends
 * at a calm moment, right after the event loop has accepted all that waited. Until then no answer
 * carries `connection: close`: its client would reconnect, and calm would never come.
 */
async function waitUntilIdle(countTaken: () => number): Promise<void> {
  const calm = () => sleep(CALM_MS).then(() => turn());
  await untilNoneTaken(countTaken, { during: calm, ms_max: CALM_MS_MAX });
  // A turn of the event loop accepts one connection. On a busy machine many may wait, for long.
  await untilNoneTaken(countTaken, { during: turn, ms_max: ACCEPTING_MS_MAX });
}

type Pause = { during: () => Promise<unknown>; ms_max: number };

async function untilNoneTaken(countTaken: () => number, { during, ms_max }: Pause): Promise<void> {
  const end = performance.now() + ms_max;
  for (let before = -1; before !== countTaken() && performance.now() < end; ) {
    before = countTaken();
    await during();
  }
}

async function drain(
  server: Server,
  connections: ReadonlyMap<Socket, Connection>,
  { deadline_ms, quiet_ms = QUIET_MS }: ClosingTerms,
): Promise<void> {
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server);
  for (const { answers } of connections.values())
    for (const answer of answers) setConnectionClose(answer);
  // After reading what has arrived meanwhile.
  const sweep = setInterval(
    () => setImmediate(closeIdleConnections, connections, quiet_ms),
    SWEEP_MS,
  );
  const deadline = setTimeout(() => server.closeAllConnections(), deadline_ms);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
  // Node's own close: it stops the check for slow clients, and has nothing else left to do.
  server.close(() => undefined);
}

function setConnectionClose(answer: ServerResponse): void {
  if (!answer.headersSent) answer.setHeader('connection', 'close');
}

function closeIdleConnections(connections: ReadonlyMap<Socket, Connection>, quietMs: number): void {
  const now = performance.now();
  for (const [socket, connection] of connections) {
    const { answers, bytesRead, quietSince } = connection;
    const isQuiet = answers.size === 0 && socket.bytesRead === bytesRead;
    if (!isQuiet) Object.assign(connection, { quietSince: now, bytesRead: socket.bytesRead });
    else if (now - quietSince >= quietMs) socket.destroySoon();
  }
}
