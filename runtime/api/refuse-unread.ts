/**
 * Answers what never reaches the app, because it is not valid HTTP, with the headers of every answer. Each refusal is
 * logged and counted like an answer of the app, since its x-request-id promises a line. Spec: Errors, Envelope.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { printHelpLink } from '../core/error-help/help-link.ts';
import { refuseConnection, refuseRequest } from '../platform/http/refuse-connection.ts';
import { UNREAD, type UnreadRefusal, unreadAnswer } from '../platform/http/unread-refusals.ts';
import { defaultHeaders } from './default-headers.ts';
import type { ApiDeps } from './deps.ts';

export type RefusalOptions = Pick<ApiDeps, 'log' | 'metrics'> & {
  /** The API's origin, for the help link of a refusal. */
  baseUrl: string;
};

export type Refusals = {
  /** Refuses a request that was parsed, but whose end or receiver cannot be trusted. */
  request(request: IncomingMessage, response: ServerResponse, fault: string): void;
  /** Refuses bytes that could not be parsed as a request. */
  unread(socket: Duplex, refusal: UnreadRefusal): void;
  /** Refuses a body that broke. Its request has reached the app, which logs and counts it. */
  body(response: ServerResponse, refusal: UnreadRefusal): void;
};

const malformed = (why: string): UnreadRefusal => ({
  status: 400,
  message: `The request is not valid HTTP${why}. Check the client or the proxy.`,
});

export const MALFORMED = malformed('');

export function createRefusals({ baseUrl, log, metrics }: RefusalOptions): Refusals {
  const headers = {
    ...defaultHeaders(baseUrl),
    link: printHelpLink(baseUrl, UNREAD),
    'content-type': 'application/json; charset=utf-8',
  };
  const write = (response: ServerResponse, refusal: UnreadRefusal) =>
    refuseRequest(response, unreadAnswer(refusal, headers));
  const observe = (seen: {
    method: string;
    status: number;
    reason: string;
    request_id: unknown;
  }) => {
    const { method, status } = seen;
    metrics.apiRequest({ method, route: 'none', status, seconds: 0 });
    log.info('request', { route: 'none', code: UNREAD, ...seen });
  };
  return {
    request: (request, response, fault) => {
      const refusal = malformed(`: ${fault}`);
      write(response, refusal);
      const { method = 'none' } = request;
      const request_id = response.getHeader('x-request-id');
      observe({ method, status: refusal.status, reason: fault, request_id });
    },
    unread: (socket, refusal) => {
      const { status, message: reason } = refusal;
      const request_id = refuseConnection(socket, unreadAnswer(refusal, headers));
      if (request_id !== undefined) observe({ method: 'none', status, reason, request_id });
    },
    body: write,
  };
}
