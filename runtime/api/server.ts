/**
 * The API's HTTP server: patient with a slow body, not with a slow head, and with an answer of ours also for what
 * is no HTTP at all. Spec: Errors, Envelope.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import { errorEnvelope } from '../core/errors.ts';
import { PROXY_UPLOAD_PATH } from '../core/signing/upload-url.ts';
import { refuseConnection } from '../platform/http/refuse-connection.ts';
import { assignRequestId } from '../platform/http/request-id.ts';

const HEADERS_TIMEOUT_MS = 10_000;
// Longer than any proxy in front keeps an idle connection, so that it never sends into a closing one.
const KEEP_ALIVE_MS = 75_000;

export function createApiServer(listener: RequestListener): Server {
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    // The bytes of an upload may come over this port too, and have a least rate instead of a deadline.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  server.on('request', (request, response) => {
    assignRequestId(request, response);
    listener(request, response);
  });
  // Who asks before sending is told at once for most requests; an upload is first looked at.
  server.on('checkContinue', (request, response) => {
    if (request.url?.startsWith(PROXY_UPLOAD_PATH) !== true) response.writeContinue();
    server.emit('request', request, response);
  });
  server.on('clientError', (_error, socket) => refuseConnection(socket, MALFORMED));
  return server;
}

const MALFORMED = {
  status: '400 Bad Request',
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  body: JSON.stringify(
    errorEnvelope({
      code: 'invalid_request',
      message: 'The request is not valid HTTP. Check the client or the proxy.',
    }),
  ),
};
