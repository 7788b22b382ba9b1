/**
 * The API's HTTP server: patient with the bytes of an upload, not with a slow head, and with an answer of ours also for
 * what is no HTTP at all. Spec: Errors, Envelope.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { errorEnvelope } from '../core/errors.ts';
import { COMPLETE_BODY_BYTES_MAX } from '../core/limits.ts';
import { PROXY_UPLOAD_PATH } from '../core/signing/upload-url.ts';
import { createConnectionFaults } from '../platform/http/connection-faults.ts';
import { refuseConnection } from '../platform/http/refuse-connection.ts';
import { assignRequestId } from '../platform/http/request-id.ts';

export type ApiTimeouts = {
  /** For a request's head to arrive whole. */
  headers_ms: number;
  /** Between requests: longer than any proxy in front keeps a connection, so that it never sends into a closing one. */
  keep_alive_ms: number;
  check_ms: number;
};

const TIMEOUTS: ApiTimeouts = { headers_ms: 10_000, keep_alive_ms: 75_000, check_ms: 1000 };

export function createApiServer(
  listener: RequestListener,
  timeouts: Partial<ApiTimeouts> = {},
): Server {
  const { headers_ms, keep_alive_ms, check_ms } = { ...TIMEOUTS, ...timeouts };
  const faults = createConnectionFaults();
  const server = createServer({
    headersTimeout: headers_ms,
    // The bytes of an upload may come over this port too, and have a least rate instead of a deadline.
    requestTimeout: 0,
    keepAliveTimeout: keep_alive_ms,
    connectionsCheckingInterval: check_ms,
  });
  server.on('request', (request, response) => {
    faults.note(request, response);
    assignRequestId(request, response);
    listener(request, response);
  });
  // Who asks before sending is told at once for most requests; what may be refused unread is first looked at.
  server.on('checkContinue', (request, response) => {
    if (!isLookedAtFirst(request)) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const refusal = refusals[error.code ?? ''] ?? MALFORMED;
    faults.end(socket, () => refuseConnection(socket, refusal));
  });
  return server;
}

/** An upload, or a body that is too long for any endpoint. */
function isLookedAtFirst({ url, headers }: IncomingMessage): boolean {
  const isUpload = url?.startsWith(PROXY_UPLOAD_PATH) === true;
  return isUpload || Number(headers['content-length'] ?? 0) > COMPLETE_BODY_BYTES_MAX;
}

const refusal = (status: string, message: string) => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: JSON.stringify(errorEnvelope({ code: 'invalid_request', message })),
});

const MALFORMED = refusal(
  '400 Bad Request',
  'The request is not valid HTTP. Check the client or the proxy.',
);

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
