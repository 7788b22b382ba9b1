/** Answers malformed HTTP with one 400 and closes the connection. Spec: Delivery host. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalHeaders } from '../core/delivery/headers.ts';
import { printHelpLink } from '../core/error-help/help-link.ts';
import { deliveryErrors, errorEnvelope } from '../core/errors.ts';
import { refuseConnection } from '../platform/http/refuse-connection.ts';

const code = 'invalid_request';
const { status, message } = deliveryErrors[code];
const body = JSON.stringify(errorEnvelope({ code, message }));

export type RefusalWriter = {
  /** Refuses a request that was parsed, but whose end cannot be trusted. */
  request(response: ServerResponse): void;
  /** Refuses bytes that could not be parsed as a request. */
  unread(socket: Duplex): void;
};

/** `baseUrl`: the API's origin, for the help page that the answer links to. */
export function createRefusalWriter(baseUrl: string | undefined): RefusalWriter {
  const headers = refusalHeaders({ help: baseUrl && printHelpLink(baseUrl, code) });
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return {
    request: (response) =>
      void response.writeHead(status, { ...headers, ...length, connection: 'close' }).end(body),
    unread: (socket) =>
      refuseConnection(socket, { status: `${status} Bad Request`, headers, body }),
  };
}
