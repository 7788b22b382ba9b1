/**
 * Ends transfers from and to the storage when the storage is silent; waits for a reader that takes nothing, and for a
 * sender that sends nothing.
 */
import { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * Destroys the body when the storage was silent for `silenceMs` and nothing is left to read. A
 * paused reader also stops the socket, and may resume just as the timer fires, so two timeouts of
 * half the time are needed.
 */
export function withDownloadStallTimeout<Body extends Readable>(
  body: Body,
  silenceMs: number,
): Body {
  if (!(body instanceof IncomingMessage)) return body;
  const { socket } = body;
  let silentAt: number | undefined;
  const onTimeout = () => {
    // The body is complete; its reader has not requested the end yet.
    if (body.complete) return;
    const isWaiting = body.readableLength === 0;
    if (isWaiting && silentAt === socket.bytesRead) {
      body.destroy(new StorageStalled(silenceMs));
      return;
    }
    silentAt = isWaiting ? socket.bytesRead : undefined;
    // After it has fired, a socket timer stays off until bytes arrive.
    socket.setTimeout(silenceMs / 2);
  };
  socket.setTimeout(silenceMs / 2).on('timeout', onTimeout);
  body.once('close', () => socket.setTimeout(0).off('timeout', onTimeout));
  return body;
}

/**
 * Destroys the request that sends the body when the storage was silent for `silenceMs`: bytes wait
 * and it accepts none, or it has all bytes and does not answer. For a piece that is accepted in
 * part, Node's timer fires only at its second look.
 */
export function withUploadStallTimeout<Body extends Readable>(body: Body, silenceMs: number): Body {
  const pipe = body.pipe.bind(body);
  // The sending code gives no other access to the request.
  return Object.assign(body, {
    pipe: <Target extends NodeJS.WritableStream>(target: Target): Target => {
      if (target instanceof ClientRequest) watchRequest(target, body, silenceMs);
      return pipe(target);
    },
  });
}

function watchRequest(request: ClientRequest, body: Readable, silenceMs: number): void {
  const watch = (socket: Socket) => {
    const listen = () => socket.setTimeout(silenceMs);
    const onTimeout = () => {
      const isWaiting = body.readableEnded || socket.writableLength > 0;
      if (isWaiting) request.destroy(new StorageStalled(silenceMs));
    };
    // After it has fired, a timer stays off until there is traffic, and the end of the body is
    // none.
    body.once('end', listen);
    listen().on('timeout', onTimeout);
    request.once('close', () => {
      body.off('end', listen);
      socket.setTimeout(0).off('timeout', onTimeout);
    });
  };
  if (request.socket) watch(request.socket);
  else request.once('socket', watch);
}

class StorageStalled extends Error {
  constructor(silenceMs: number) {
    super(`the storage was silent for ${silenceMs} ms`);
    this.name = 'TimeoutError';
  }
}
