/** Answers malformed HTTP with one refusal and closes the connection. Spec: Delivery host. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalHeaders } from '../core/delivery/headers.ts';
import { printHelpLink } from '../core/error-help/help-link.ts';
import { deliveryErrors, errorEnvelope } from '../core/errors.ts';
import { refuseConnection } from '../platform/http/refuse-connection.ts';
import type { UnreadRefusal } from '../platform/http/unread-refusals.ts';

const code = 'invalid_request';

export type Refused = { status: number; code: typeof code; request_id: unknown };

export type RefusalWriter = {
  /** Refuses a request that was parsed, but whose end cannot be trusted. */
  request(response: ServerResponse): Refused;
  /** Refuses bytes that could not be parsed as a request; undefined if nobody reads the answer. */
  unread(socket: Duplex, refusal?: UnreadRefusal): Refused | undefined;
};

/** `baseUrl`: the API's origin, for the help page that the answer links to. */
export function createRefusalWriter(baseUrl: string | undefined): RefusalWriter {
  const headers = refusalHeaders({ help: baseUrl && printHelpLink(baseUrl, code) });
  return {
    request: (response) => {
      const { status, message } = deliveryErrors[code];
      const body = bodyOf(message);
      const ending = { 'content-length': Buffer.byteLength(body), connection: 'close' };
      response.writeHead(status, { ...headers, ...ending }).end(body);
      return { status, code, request_id: response.getHeader('x-request-id') };
    },
    unread: (socket, { status, message } = deliveryErrors[code]) => {
      const request_id = refuseConnection(socket, { status, headers, body: bodyOf(message) });
      return request_id === undefined ? undefined : { status, code, request_id };
    },
  };
}

function bodyOf(message: string): string {
  return JSON.stringify(errorEnvelope({ code, message }));
}
