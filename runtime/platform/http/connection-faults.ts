/**
 * Refuses unreadable bytes on a connection, once the answers to earlier requests are out. Written at once, the refusal
 * would be read as part of the current answer, or as the answer to the previous request. An unreadable body is the
 * fault of its own request, whose handler may be waiting for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export type ConnectionFaults = {
  /** Call for every request when it arrives. */
  note(request: IncomingMessage, response: ServerResponse): void;
  /** Ends the connection: with a refusal of its own, or with the current answer. */
  end(socket: Duplex, words: Words): void;
};

type Words = {
  refuse(): void;
  /** Answers the request whose body broke, if its handler waits for the body. */
  answer?(response: ServerResponse): void;
};

type Exchange = { request: IncomingMessage; response: ServerResponse };

export function createConnectionFaults(): ConnectionFaults {
  const latest = new WeakMap<Duplex, Exchange>();
  const ending = new WeakSet<Duplex>();
  return {
    note: (request, response) => void latest.set(request.socket, { request, response }),
    end: (socket, { refuse, answer }) => {
      const { request, response } = latest.get(socket) ?? {};
      if (request === undefined || response === undefined) {
        // The client has sent nothing: a refusal would be read as the answer to a request still on
        // its way.
        if (isSilent(socket)) return void socket.destroy();
        return refuse();
      }
      // The request is already answered: if its own body is broken, another refusal would be a
      // second answer.
      if (response.writableFinished) return request.complete ? refuse() : void socket.end();
      // A connection that was reset breaks bodies too, but nobody reads the answer.
      const mayAnswer = socket.writable && !response.headersSent;
      if (answer !== undefined && mayAnswer && isBodyAwaited(request)) {
        // Node drops a request that is answered: nothing else would tell a reader of its body that
        // no more comes.
        socket.once('close', () => request.destroy());
        return answer(response);
      }
      if (!response.headersSent) response.setHeader('connection', 'close');
      if (!ending.has(socket)) response.once('finish', () => socket.end());
      ending.add(socket);
    },
  };
}

function isSilent(socket: Duplex): boolean {
  return socket instanceof Socket && socket.bytesRead === 0;
}

/**
 * A handler that reads the body in chunks listens for them; any other handler answers soon, without
 * the body.
 */
function isBodyAwaited(request: IncomingMessage): boolean {
  return !request.complete && request.listenerCount('readable') > 0;
}
