/**
 * Answers bytes that could not be parsed as a request: one answer, then the end of the connection. Spec: Errors,
 * Envelope (every response carries x-request-id).
 */
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';

export type ConnectionAnswer = {
  /** For example `400 Bad Request`. */
  status: string;
  headers: Readonly<Record<string, string>>;
  body: string;
};

const LINGER_MS = 1000;

export function refuseConnection(
  socket: Duplex,
  { status, headers, body }: ConnectionAnswer,
): void {
  if (!socket.writable) return void socket.destroy();
  const all = {
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    'x-request-id': randomUUID(),
    date: new Date().toUTCString(),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status}`, ...lines, '', body].join('\r\n'));
  // Closing at once would reset the connection before a client that still sends has read the
  // answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
