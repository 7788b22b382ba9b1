/**
 * Reads the rest of a body whose request was answered early, for a moment: resetting the connection while the client
 * still sends would hide the answer from it. With `connection: close`, Node nevertheless resets the connection as soon
 * as the answer is written.
 */
import type { IncomingMessage } from 'node:http';

const DRAIN_MS_MAX = 5000;

export function drainRequest(request: IncomingMessage): void {
  // After its answer a request gets no event when its connection ends; a dead connection must not
  // hold the process.
  const timer = setTimeout(() => request.destroy(), DRAIN_MS_MAX).unref();
  request.on('close', () => clearTimeout(timer)).on('error', () => undefined);
  // A reader of chunks may still be attached; nothing would flow then.
  request.removeAllListeners('readable');
  setImmediate(() => request.resume());
}
