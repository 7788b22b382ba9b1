/** Bytes on their way from the storage end where it says nothing; a reader that takes nothing is waited for. */
import { IncomingMessage } from 'node:http';
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

class SilentStorage extends Error {
  constructor(silenceMs: number) {
    super(`nothing came from the storage within ${silenceMs} ms`);
    this.name = 'TimeoutError';
  }
}
