/**
 * What cannot be read on a connection, behind requests that could: it is refused when their answers are out. Words now
 * would be read as a part of the answer that is still being written, or as the answer to the request before.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

export type ConnectionFaults = {
  /** Of every request, as it comes. */
  note(request: IncomingMessage, response: ServerResponse): void;
  /** The connection ends here: by words of its own, or with the answer that is under way. */
  end(socket: Duplex, refuse: () => void): void;
};

export function createConnectionFaults(): ConnectionFaults {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const ending = new WeakSet<Duplex>();
  return {
    note: (request, response) => void latest.set(request.socket, response),
    end: (socket, refuse) => {
      const response = latest.get(socket);
      if (response === undefined || response.writableFinished) return refuse();
      if (!response.headersSent) response.setHeader('connection', 'close');
      if (!ending.has(socket)) response.once('finish', () => socket.end());
      ending.add(socket);
    },
  };
}
