/**
 * The API's HTTP server: patient with the bytes of an upload but not with slow headers. It answers even malformed HTTP
 * with our envelope. Spec: Errors, Envelope.
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
  /** The API's origin, for the help link of a refusal. */
  baseUrl: string;
};

type ApiTimeouts = {
  /** Time for the whole head of a request to arrive. */
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
    // Uploads share this port; they have a minimum rate instead of a deadline.
    requestTimeout: 0,
    ...keepAlive,
    connectionsCheckingInterval: check_ms,
    // We refuse a missing Host ourselves, with our envelope.
    requireHostHeader: false,
  });
  // With a limit, Node silently drops further headers, such as a second Host.
  server.maxHeadersCount = 0;
  server.on('request', (request, response) => {
    faults.note(request, response);
    assignRequestId(request, response);
    // An answer may be sent before its request body ends; Node would wait for such a body forever.
    response.once('finish', () => {
      if (!request.complete) drainRequest(request);
    });
    // Node loses the first bytes that follow an upgrade request, so the connection is not reused.
    if (request.headers.upgrade !== undefined) response.setHeader('connection', 'close');
    const fault = faultOf(request);
    if (fault === undefined) listener(request, response);
    else refuseRequest(response, { ...malformed(`: ${fault}`), always });
  });
  // Expectations other than 100-continue may be ignored.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  // Most requests get their 100 at once; those that may be refused unread are checked first.
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

/** True for an upload, or a body too long for any endpoint. */
function isLookedAtFirst({ url, headers }: IncomingMessage): boolean {
  const isUpload = url?.startsWith(PROXY_UPLOAD_PATH) === true;
  return isUpload || Number(headers['content-length'] ?? 0) > COMPLETE_BODY_BYTES_MAX;
}

/** HTTP/1.0 clients need not send a Host. */
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

/** By Node's error codes. */
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
