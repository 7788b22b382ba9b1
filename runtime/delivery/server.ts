/**
 * The delivery server: plain node:http, strict about the protocol, with x-request-id on every response.
 * Spec: Delivery host.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorEnvelope } from '../core/errors.ts';
import { REQUEST_ID_PATTERN } from '../core/limits.ts';
import type { DeliveryDeps } from './deps.ts';
import { type Exchange, handleDelivery } from './handler.ts';
import { protocolFault } from './protocol.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
// Longer than any proxy in front keeps an idle connection, so that it never sends into a closing one.
const KEEP_ALIVE_MS = 75_000;

export function createDeliveryServer(deps: DeliveryDeps): Server {
  const options = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = createServer(options, (request, response) => {
    response.setHeader('x-request-id', requestIdOf(request));
    if (protocolFault(request) !== undefined) return refuseProtocol(response);
    void deliverObserved(deps, { request, response });
  });
  server.on('clientError', (_error, socket) => refuseConnection(socket));
  return server;
}

function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID_PATTERN.test(sent) ? sent : randomUUID();
}

async function deliverObserved(deps: DeliveryDeps, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const started = performance.now();
  const source = await handleDelivery(deps, exchange);
  const duration_ms = Math.round((performance.now() - started) * 10) / 10;
  const { statusCode: status } = response;
  const bytes = Number(response.getHeader('content-length') ?? 0);
  deps.metrics.delivery({ status, source, seconds: duration_ms / 1000, bytes });
  const { method, headers, url: path } = request;
  const request_id = response.getHeader('x-request-id');
  deps.log.debug('delivery', { method, host: headers.host, path, status, duration_ms, request_id });
}

const MALFORMED = JSON.stringify(
  errorEnvelope({
    code: 'invalid_request',
    message: 'The request is not valid HTTP for a delivery host.',
  }),
);

function refuseProtocol(response: ServerResponse): void {
  response.writeHead(400, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(MALFORMED);
}

/** What Node itself could not read as a request: one answer, then the end of the connection. */
function refuseConnection(socket: Duplex): void {
  if (!socket.writable) return void socket.destroy();
  const lines = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    'cache-control: no-store',
    `x-request-id: ${randomUUID()}`,
    `content-length: ${Buffer.byteLength(MALFORMED)}`,
    'connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${MALFORMED}`);
}
