/**
 * The API's HTTP server: patient with the bytes of an upload but not with slow headers. It answers even malformed HTTP
 * with our envelope. Spec: Errors, Envelope.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { createConnectionFaults } from '../platform/http/connection-faults.ts';
import { drainRequest } from '../platform/http/drain-request.ts';
import { keepAlive } from '../platform/http/keep-alive.ts';
import { protocolFault, UNCLEAR_HOST } from '../platform/http/protocol-fault.ts';
import { assignRequestId } from '../platform/http/request-id.ts';
import { unreadRefusals } from '../platform/http/unread-refusals.ts';
import { defaultHeaders } from './default-headers.ts';
import { createRefusals, MALFORMED, type RefusalOptions } from './refuse-unread.ts';

export type ApiServerOptions = Partial<ApiTimeouts> & RefusalOptions;

type ApiTimeouts = {
  /** Time for the whole head of a request to arrive. */
  headers_ms: number;
  check_ms: number;
};

const TIMEOUTS: ApiTimeouts = { headers_ms: 10_000, check_ms: 1000 };

export function createApiServer(
  listener: RequestListener,
  { baseUrl, log, metrics, ...timeouts }: ApiServerOptions,
): Server {
  const { headers_ms, check_ms } = { ...TIMEOUTS, ...timeouts };
  const server = createServer({
    headersTimeout: headers_ms,
    // Uploads share this port; they have a minimum rate instead of a deadline.
    requestTimeout: 0,
    ...keepAlive,
    connectionsCheckingInterval: check_ms,
    // We refuse a missing Host ourselves, with our envelope.
    requireHostHeader: false,
  });
  // With a limit, Node silently drops further headers, such as a second Host.
  server.maxHeadersCount = 0;
  return listen(server, listener, { baseUrl, log, metrics });
}

function listen(server: Server, listener: RequestListener, options: RefusalOptions): Server {
  const faults = createConnectionFaults();
  const refusals = createRefusals(options);
  const defaults = new Map(Object.entries(defaultHeaders(options.baseUrl)));
  server.on('request', (request, response) => {
    faults.note(request, response);
    assignRequestId(request, response);
    response.setHeaders(defaults);
    // An answer may be sent before its request body ends; Node would wait for such a body forever.
    response.once('finish', () => {
      if (!request.complete) drainRequest(request);
    });
    // Node loses the first bytes that follow an upgrade request, so the connection is not reused.
    if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close');
    const fault = faultOf(request);
    if (fault === undefined) listener(request, response);
    else refusals.request(request, response, fault);
  });
  // Whoever reads a body lets its client continue; other expectations may be ignored.
  for (const expectation of ['checkContinue', 'checkExpectation']) {
    server.on(expectation, (request, response) => server.emit('request', request, response));
  }
  const refuse = (socket: Duplex, unread = MALFORMED) =>
    faults.end(socket, {
      refuse: () => refusals.unread(socket, unread),
      answer: (response) => refusals.body(response, unread),
    });
  server.on('connect', (_request, socket) => refuse(socket));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuse(socket, unreadRefusals[error.code ?? '']),
  );
  return server;
}

/** HTTP/1.0 clients need not send a Host. */
function faultOf(request: IncomingMessage): string | undefined {
  const fault = protocolFault(request);
  const isOld = request.httpVersion === '1.0' && request.headers.host === undefined;
  return isOld && fault === UNCLEAR_HOST ? undefined : fault;
}
