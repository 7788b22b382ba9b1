/**
 * The answer to what is no proper HTTP request: one 400, then the end of the connection. Spec: Delivery host.
 */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalHeaders } from '../core/delivery/headers.ts';
import { printHelpLink } from '../core/error-help/help-link.ts';
import { deliveryErrors, errorEnvelope } from '../core/errors.ts';
import { refuseConnection } from '../platform/http/refuse-connection.ts';

const code = 'invalid_request';
const { status, message } = deliveryErrors[code];
const body = JSON.stringify(errorEnvelope({ code, message }));

export type Refusing = {
  /** A request that was read, and must not be trusted to end where it seems to. */
  request(response: ServerResponse): void;
  /** What could not be read as a request at all. */
  unread(socket: Duplex): void;
};

/** `baseUrl`: the API's origin, for the page that it links to. */
export function createRefusing(baseUrl: string | undefined): Refusing {
  const headers = refusalHeaders({ help: baseUrl && printHelpLink(baseUrl, code) });
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return {
    request: (response) =>
      void response.writeHead(status, { ...headers, ...length, connection: 'close' }).end(body),
    unread: (socket) =>
      refuseConnection(socket, { status: `${status} Bad Request`, headers, body }),
  };
}
