/**
 * The answer to what is no proper HTTP request: one 400, then the end of the connection. Spec: Delivery host.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalHeaders } from '../core/delivery/headers.ts';
import { deliveryErrors, errorEnvelope } from '../core/errors.ts';
import { refuseConnection } from '../platform/http/refuse-connection.ts';

const { status, message } = deliveryErrors.invalid_request;
const body = JSON.stringify(errorEnvelope({ code: 'invalid_request', message }));

/** A request that was read, and must not be trusted to end where it seems to. */
export function refuseRequest(response: ServerResponse): void {
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  response.writeHead(status, { ...refusalHeaders(), ...length, connection: 'close' }).end(body);
}

/** What could not be read as a request at all. */
export function refuseUnread(socket: Duplex): void {
  refuseConnection(socket, { status: `${status} Bad Request`, headers: refusalHeaders(), body });
}
