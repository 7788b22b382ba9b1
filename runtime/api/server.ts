/**
 * The API's HTTP server: patient with the bytes of an upload, not with a slow head, and with an answer of ours also for
 * what is no HTTP at all. Spec: Errors, Envelope.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { printHelpLink } from '../core/error-help/help-link.ts';
import { errorEnvelope } from '../core/errors.ts';
import { COMPLETE_BODY_BYTES_MAX } from '../core/limits.ts';
import { PROXY_UPLOAD_PATH } from '../core/signing/upload-url.ts';
import { createConnectionFaults } from '../platform/http/connection-faults.ts';
import { drainRequest } from '../platform/http/drain-request.ts';
import { keepAlive } from '../platform/http/keep-alive.ts';
import { protocolFault, UNCLEAR_HOST } from '../platform/http/protocol-fault.ts';
import { refuseConnection } from '../platform/http/refuse-connection.ts';
import { assignRequestId } from '../platform/http/request-id.ts';
import { defaultHeaders } from './default-headers.ts';

export type ApiServerOptions = Partial<ApiTimeouts> & {
  /** The API's origin, for the page that a refusal links to. */
  baseUrl: string;
};

type ApiTimeouts = {
  /** For a request's head to arrive whole. */
  headers_ms: number;
  check_ms: number;
};

const TIMEOUTS: ApiTimeouts = { headers_ms: 10_000, check_ms: 1000 };

export function createApiServer(
  listener: RequestListener,
  { baseUrl, ...timeouts }: ApiServerOptions,
): Server {
  const { headers_ms, check_ms } = { ...TIMEOUTS, ...timeouts };
  const always = { ...defaultHeaders(baseUrl), link: printHelpLink(baseUrl, UNREAD) };
  const faults = createConnectionFaults();
  const server = createServer({
    headersTimeout: headers_ms,
    // The bytes of an upload may come over this port too, and have a least rate instead of a deadline.
    requestTimeout: 0,
    ...keepAlive,
    connectionsCheckingInterval: check_ms,
    // Refused here, in our words.
    requireHostHeader: false,
  });
  // Headers beyond a count would be dropped silently, a second Host among them.
  server.maxHeadersCount = 0;
  server.on('request', (request, response) => {
    faults.note(request, response);
    assignRequestId(request, response);
    // Whatever was answered before its body had come: nothing here would end one that never does.
    response.once('finish', () => {
      if (!request.complete) drainRequest(request);
    });
    // Of what comes right behind an offer to upgrade Node loses the beginning.
    if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close');
    const fault = faultOf(request);
    if (fault === undefined) listener(request, response);
    else refuseRequest(response, { ...malformed(`: ${fault}`), always });
  });
  // Another expectation than 100-continue may be passed over.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Who asks before sending is told at once for most requests; what may be refused unread is first looked at.
  server.on('checkContinue', (request, response) => {
    if (!isLookedAtFirst(request)) response.writeContinue();
    server.emit('request', request, response);
  });
  const refuse = (socket: Duplex, { status, headers, body }: typeof MALFORMED) =>
    faults.end(socket, {
      refuse: () => refuseConnection(socket, { status, headers: { ...always, ...headers }, body }),
      answer: (response) => refuseRequest(response, { status, headers, body, always }),
    });
  server.on('connect', (_request, socket) => refuse(socket, MALFORMED));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) =>
    refuse(socket, refusals[error.code ?? ''] ?? MALFORMED),
  );
  return server;
}

/** An upload, or a body that is too long for any endpoint. */
function isLookedAtFirst({ url, headers }: IncomingMessage): boolean {
  const isUpload = url?.startsWith(PROXY_UPLOAD_PATH) === true;
  return isUpload || Number(headers['content-length'] ?? 0) > COMPLETE_BODY_BYTES_MAX;
}

/** Whoever speaks HTTP/1.0 need not say which host is meant. */
function faultOf(request: IncomingMessage): string | undefined {
  const fault = protocolFault(request);
  const isOld = request.httpVersion === '1.0' && request.headers.host === undefined;
  return isOld && fault === UNCLEAR_HOST ? undefined : fault;
}

type Refusal = typeof MALFORMED & { always: Readonly<Record<string, string>> };

function refuseRequest(response: ServerResponse, { status, headers, body, always }: Refusal): void {
  const ending = { 'content-length': Buffer.byteLength(body), connection: 'close' };
  response.writeHead(Number.parseInt(status, 10), { ...always, ...headers, ...ending }).end(body);
}

const UNREAD = 'invalid_request';

const refusal = (status: string, message: string) => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(errorEnvelope({ code: UNREAD, message })),
});

const malformed = (why: string) =>
  refusal('400 Bad Request', `The request is not valid HTTP${why}. Check the client or the proxy.`);

const MALFORMED = malformed('');

/** By the codes of Node. */
const refusals: Readonly<Record<string, typeof MALFORMED>> = {
  HPE_HEADER_OVERFLOW: refusal(
    '431 Request Header Fields Too Large',
    'The head of the request is larger than 16 KiB. Shorten its headers or its query.',
  ),
  ERR_HTTP_REQUEST_TIMEOUT: refusal(
    '408 Request Timeout',
    'The head of the request did not arrive within 10 seconds. Send it again, without a pause.',
  ),
};
