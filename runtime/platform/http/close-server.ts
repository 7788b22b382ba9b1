/**
 * The end of an HTTP server, without a request that gets no answer. Who has connected is taken, and from then on connections
 * are refused; whoever sends on an old one is answered and told that it was the last answer there; who is quiet for a
 * while is hung up on, and at the deadline all that are left. Node's own end hangs up on quiet connections at once, while
 * a request may be on its way.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';

export type Closing = { close(terms: ClosingTerms): Promise<void> };

export type ClosingTerms = {
  /** When all are hung up on. */
  deadline_ms: number;
  /** How long a connection is kept on which nothing comes. */
  quiet_ms?: number | undefined;
};

const SWEEP_MS = 50;
/** A client that sends one request after the other is hardly ever quiet for longer. */
const QUIET_MS = 2000;
/** Nobody new came in that time, of a server that was busy for a turn of its event loop at most. */
const CALM_MS = 50;
/** A server to which somebody always connects refuses connections all the same. */
const TAKING_MS_MAX = 500;

type Connection = {
  answers: Set<ServerResponse>;
  /** Since when nothing was read of it, and how much had been by then. */
  quietSince: number;
  bytesRead: number;
};

/** Called before the server listens. */
export function prepareToClose(server: Server): Closing {
  const connections = new Map<Socket, Connection>();
  const state = { isClosing: false, taken: 0 };
  server.on('connection', (socket: Socket) => {
    state.taken += 1;
    const quietSince = performance.now();
    connections.set(socket, { answers: new Set(), quietSince, bytesRead: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  // Before whoever answers.
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (state.isClosing) response.setHeader('connection', 'close');
    const answers = connections.get(socket)?.answers;
    answers?.add(response);
    response.once('close', () => answers?.delete(response));
  });
  return {
    close: async (terms) => {
      if (!server.listening) return;
      await untilCalm(() => state.taken);
      state.isClosing = true;
      await drain(server, connections, terms);
    },
  };
}

/**
 * Who has connected and was not taken yet is reset when nobody listens any more. So it ends at a moment at which hardly
 * anybody connects, right after the event loop has taken whoever waited; to those whom it told to connect anew, as it
 * tells whoever asks from then on, it would never come.
 */
async function untilCalm(countTaken: () => number): Promise<void> {
  const end = performance.now() + TAKING_MS_MAX;
  for (let before = -1; before !== countTaken() && performance.now() < end; ) {
    before = countTaken();
    await sleep(CALM_MS);
    await turn();
  }
}

async function drain(
  server: Server,
  connections: ReadonlyMap<Socket, Connection>,
  { deadline_ms, quiet_ms = QUIET_MS }: ClosingTerms,
): Promise<void> {
  const closed = once(server, 'close');
  NetServer.prototype.close.call(server);
  for (const { answers } of connections.values()) for (const answer of answers) sayLast(answer);
  // After what has arrived meanwhile was read.
  const sweep = setInterval(() => setImmediate(hangUp, connections, quiet_ms), SWEEP_MS);
  const deadline = setTimeout(() => server.closeAllConnections(), deadline_ms);
  await closed;
  clearInterval(sweep);
  clearTimeout(deadline);
  // Node's own end: it stops to look for slow clients, and has nothing else to do any more.
  server.close(() => undefined);
}

function sayLast(answer: ServerResponse): void {
  if (!answer.headersSent) answer.setHeader('connection', 'close');
}

function hangUp(connections: ReadonlyMap<Socket, Connection>, quietMs: number): void {
  const now = performance.now();
  for (const [socket, connection] of connections) {
    const { answers, bytesRead, quietSince } = connection;
    const isQuiet = answers.size === 0 && socket.bytesRead === bytesRead;
    if (!isQuiet) Object.assign(connection, { quietSince: now, bytesRead: socket.bytesRead });
    else if (now - quietSince >= quietMs) socket.destroySoon();
  }
}
