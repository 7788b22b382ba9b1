/**
 * The answer to what is no proper HTTP request: one 400, then the end of the connection. Spec: Delivery host.
 */
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalHeaders } from '../core/delivery/headers.ts';
import { deliveryErrors, errorEnvelope } from '../core/errors.ts';

const { status, message } = deliveryErrors.invalid_request;
const BODY = JSON.stringify(errorEnvelope({ code: 'invalid_request', message }));
const HEADERS = {
  ...refusalHeaders(),
  'content-length': String(Buffer.byteLength(BODY)),
  connection: 'close',
};
const LINGER_MS = 1000;

/** A request that was read, and must not be trusted to end where it seems to. */
export function refuseRequest(response: ServerResponse): void {
  response.writeHead(status, HEADERS).end(BODY);
}

/** What could not be read as a request at all. */
export function refuseConnection(socket: Duplex): void {
  if (!socket.writable) return void socket.destroy();
  const headers = { ...HEADERS, 'x-request-id': randomUUID(), date: new Date().toUTCString() };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${status} Bad Request`, ...lines, '', BODY].join('\r\n'));
  // At once would reset the connection before a client that still sends has read the answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
