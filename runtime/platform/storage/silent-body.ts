/** Bytes on their way from the storage end where it says nothing; a reader that takes nothing is waited for. */
import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/**
 * Destroys the body once its storage was silent for so long with nothing left to take. A viewer who pauses stops the
 * socket too, for as long as there is something that he has not taken.
 */
export function endingSilence<Body extends Readable>(body: Body, silenceMs: number): Body {
  if (!(body instanceof IncomingMessage)) return body;
  const { socket } = body;
  const onTimeout = () => {
    // Once it has rung, a timer stands until bytes come.
    if (body.readableLength > 0) socket.setTimeout(silenceMs);
    else body.destroy(new SilentStorage(silenceMs));
  };
  socket.setTimeout(silenceMs).on('timeout', onTimeout);
  body.once('close', () => socket.setTimeout(0).off('timeout', onTimeout));
  return body;
}

class SilentStorage extends Error {
  constructor(silenceMs: number) {
    super(`nothing came from the storage within ${silenceMs} ms`);
    this.name = 'TimeoutError';
  }
}
