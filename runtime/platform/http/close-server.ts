/**
 * The end of an HTTP server: answers under way end, connections without one close at once, and at the
 * deadline all that are left. Node alone would wait for a client that connected and never asked.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type Closing = { close(deadlineMs: number): Promise<void> };

const SWEEP_MS = 50;

/** Called before the server listens. */
export function prepareToClose(server: Server): Closing {
  const answers = new Map<Socket, Set<ServerResponse>>();
  server.on('connection', (socket: Socket) => {
    answers.set(socket, new Set());
    socket.once('close', () => answers.delete(socket));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    answers.get(socket)?.add(response);
    response.once('close', () => answers.get(socket)?.delete(response));
  });
  const sweepIdle = () => {
    for (const [socket, under] of answers) if (under.size === 0) socket.destroy();
  };
  return {
    close: async (deadlineMs) => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      const sweep = setInterval(sweepIdle, SWEEP_MS);
      const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs);
      await closed;
      clearInterval(sweep);
      clearTimeout(deadline);
    },
  };
}
