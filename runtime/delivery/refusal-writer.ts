/** Answers malformed HTTP with one refusal and closes the connection. Spec: Delivery host. */
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { refusalHeaders } from '../core/delivery/headers.ts';
import { printHelpLink } from '../core/error-help/help-link.ts';
import { deliveryErrors } from '../core/errors.ts';
import { refuseConnection, refuseRequest } from '../platform/http/refuse-connection.ts';
import { UNREAD, type UnreadRefusal, unreadAnswer } from '../platform/http/unread-refusals.ts';

export type Refused = { status: number; code: typeof UNREAD; request_id: unknown };

export type RefusalWriter = {
  /** Refuses a request that was parsed, but whose end cannot be trusted. */
  request(response: ServerResponse): Refused;
  /** Refuses bytes that could not be parsed as a request; undefined if nobody reads the answer. */
  unread(socket: Duplex, refusal?: UnreadRefusal): Refused | undefined;
};

const MALFORMED = deliveryErrors[UNREAD];

/** `baseUrl`: the API's origin, for the help page that the answer links to. */
export function createRefusalWriter(baseUrl: string | undefined): RefusalWriter {
  const headers = refusalHeaders({ help: baseUrl && printHelpLink(baseUrl, UNREAD) });
  const refused = ({ status }: UnreadRefusal, request_id: unknown): Refused => {
    return { status, code: UNREAD, request_id };
  };
  return {
    request: (response) => {
      refuseRequest(response, unreadAnswer(MALFORMED, headers));
      return refused(MALFORMED, response.getHeader('x-request-id'));
    },
    unread: (socket, refusal = MALFORMED) => {
      const request_id = refuseConnection(socket, unreadAnswer(refusal, headers));
      return request_id === undefined ? undefined : refused(refusal, request_id);
    },
  };
}
