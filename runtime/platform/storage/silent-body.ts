/**
 * Bytes on their way from and to the storage end where it says nothing; a reader that takes nothing is waited for, and
 * a sender that sends nothing.
 */
import { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

/**
 * Destroys the body once its storage was silent for so long with nothing left to take. A reader that pauses stops the
 * socket too, and may go on in the very moment at which a timer rings: it has to ring twice.
 */
export function endingSilence<Body extends Readable>(body: Body, silenceMs: number): Body {
  if (!(body instanceof IncomingMessage)) return body;
  const { socket } = body;
  let silentAt: number | undefined;
  const onTimeout = () => {
    // Whole, and its reader has not asked for its end yet.
    if (body.complete) return;
    const isWaiting = body.readableLength === 0;
    if (isWaiting && silentAt === socket.bytesRead) {
      body.destroy(new SilentStorage(silenceMs));
      return;
    }
    silentAt = isWaiting ? socket.bytesRead : undefined;
    // Once it has rung, a timer stands until bytes come.
    socket.setTimeout(silenceMs / 2);
  };
  socket.setTimeout(silenceMs / 2).on('timeout', onTimeout);
  body.once('close', () => socket.setTimeout(0).off('timeout', onTimeout));
  return body;
}

/**
 * Destroys the request that takes the body once the storage was silent for so long: bytes wait, and it takes none, or it
 * has all of them and does not answer. Of two looks at a piece that is taken in parts, Node's timer needs the second.
 */
export function noticingSilence<Body extends Readable>(body: Body, silenceMs: number): Body {
  const pipe = body.pipe.bind(body);
  // Who sends it shows the request to nobody else.
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
      if (isWaiting) request.destroy(new SilentStorage(silenceMs));
    };
    // Once it has rung, a timer stands until bytes go or come: the end of the body is neither.
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

class SilentStorage extends Error {
  constructor(silenceMs: number) {
    super(`the storage was silent for ${silenceMs} ms`);
    this.name = 'TimeoutError';
  }
}
