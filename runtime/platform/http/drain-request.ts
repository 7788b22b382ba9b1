/**
 * Reads the rest of a refused body away for a moment: a connection that is reset under a client that still sends
 * would hide the answer from it. The answer must not carry `connection: close`: Node then resets the connection as soon
 * as the answer is written.
 */
import type { IncomingMessage } from 'node:http';

const DRAIN_MS_MAX = 5000;

export function drainRequest(request: IncomingMessage): void {
  const timer = setTimeout(() => request.destroy(), DRAIN_MS_MAX);
  request.on('close', () => clearTimeout(timer)).on('error', () => undefined);
  // Whoever read it chunk by chunk may not have let go of it: then nothing would flow.
  request.removeAllListeners('readable');
  setImmediate(() => request.resume());
}
