/**
 * What cannot be read on a connection, behind requests that could: it is refused when their answers are out. Words now
 * would be read as a part of the answer that is still being written, or as the answer to the request before. A body that
 * cannot be read is the fault of its own request, which may wait for it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export type ConnectionFaults = {
  /** Of every request, as it comes. */
  note(request: IncomingMessage, response: ServerResponse): void;
  /** The connection ends here: by words of its own, or with the answer that is under way. */
  end(socket: Duplex, words: Words): void;
};

type Words = {
  refuse(): void;
  /** To a request whose body broke, where the answer waits for the body. */
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
        // Nobody has said anything: words would be the answer to a request that is on its way.
        if (isSilent(socket)) return void socket.destroy();
        return refuse();
      }
      // Answered already, whatever its body would have been: more words would be a second answer.
      if (response.writableFinished) return request.complete ? refuse() : void socket.end();
      // A connection that was reset breaks bodies too, but nobody reads on it.
      const mayAnswer = socket.writable && !response.headersSent;
      if (answer !== undefined && mayAnswer && isBodyAwaited(request)) {
        // Node forgets a request that is answered: nobody else would tell who waits for the rest of its body.
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

/** Who reads a body chunk by chunk listens for them; whoever does not answers without it, and soon. */
function isBodyAwaited(request: IncomingMessage): boolean {
  return !request.complete && request.listenerCount('readable') > 0;
}
