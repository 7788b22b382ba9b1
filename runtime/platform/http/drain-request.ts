/**
 * Reads the rest of a body that was answered before it had come away for a moment: a connection that is reset under a
 * client that still sends would hide the answer from it. Where the answer carries `connection: close`, Node resets it as
 * soon as the answer is written all the same.
 */
import type { IncomingMessage } from 'node:http';

const DRAIN_MS_MAX = 5000;

export function drainRequest(request: IncomingMessage): void {
  // Behind its answer a request hears no more of its connection: one that is gone must not hold the process.
  const timer = setTimeout(() => request.destroy(), DRAIN_MS_MAX).unref();
  request.on('close', () => clearTimeout(timer)).on('error', () => undefined);
  // Whoever read it chunk by chunk may not have let go of it: then nothing would flow.
  request.removeAllListeners('readable');
  setImmediate(() => request.resume());
}
