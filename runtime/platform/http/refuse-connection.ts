/**
 * Answers bytes that could not be parsed as a request: one answer, then the end of the connection. Spec: Errors,
 * Envelope (every response carries x-request-id).
 */
import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

export type ConnectionAnswer = {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
};

const LINGER_MS = 1000;

/** Returns the answer's x-request-id; undefined if nobody is there to read an answer. */
export function refuseConnection(
  socket: Duplex,
  { status, headers, body }: ConnectionAnswer,
): string | undefined {
  if (!socket.writable) {
    socket.destroy();
    return undefined;
  }
  const request_id = randomUUID();
  const all = {
    ...headers,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    'x-request-id': request_id,
    date: new Date().toUTCString(),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
  // Closing at once would reset the connection before a client that still sends has read the
  // answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  return request_id;
}

/** Refuses a request that was parsed, and ends its connection too. */
export function refuseRequest(
  response: ServerResponse,
  { status, headers, body }: ConnectionAnswer,
): void {
  const ending = { 'content-length': Buffer.byteLength(body), connection: 'close' };
  response.writeHead(status, { ...headers, ...ending }).end(body);
}
