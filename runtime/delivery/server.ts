/**
 * The delivery server: plain node:http, strict about the protocol, with x-request-id on every response.
 * Spec: Delivery host.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createFailureLog } from '../platform/failure-log.ts';
import { createConnectionFaults } from '../platform/http/connection-faults.ts';
import { keepAlive } from '../platform/http/keep-alive.ts';
import { protocolFault } from '../platform/http/protocol-fault.ts';
import { assignRequestId } from '../platform/http/request-id.ts';
import { traceRequest } from '../platform/http/trace-request.ts';
import { unreadRefusals } from '../platform/http/unread-refusals.ts';
import type { DeliveryDeps } from './deps.ts';
import type { Exchange } from './exchange.ts';
import { type HandlerDeps, handleDelivery } from './handler.ts';
import { createOriginals } from './originals.ts';
import { isLastOnConnection } from './protocol.ts';
import { createRefusalWriter, type Refused } from './refusal-writer.ts';

export type DeliveryTimeouts = {
  /** The time for a request's head to arrive completely. */
  headers_ms: number;
  /** The time for a whole request. */
  request_ms: number;
  /** The time without a byte in either direction: longer than a render takes. */
  idle_ms: number;
  check_ms: number;
};

const TIMEOUTS: DeliveryTimeouts = {
  headers_ms: 10_000,
  request_ms: 30_000,
  idle_ms: 60_000,
  check_ms: 1_000,
};

type ObservedDeps = HandlerDeps & Pick<DeliveryDeps, 'log' | 'metrics' | 'baseUrl'>;

/** `settled` resolves when no delivery is running any more and all are metered. */
export type DeliveryServer = Server & { settled(): Promise<void> };

export function createDeliveryServer(
  deps: DeliveryDeps,
  timeouts: Partial<DeliveryTimeouts> = {},
): DeliveryServer {
  const { headers_ms, request_ms, idle_ms, check_ms } = { ...TIMEOUTS, ...timeouts };
  const server = createServer({
    headersTimeout: headers_ms,
    requestTimeout: request_ms,
    ...keepAlive,
    connectionsCheckingInterval: check_ms,
    // A missing Host is refused together with the other protocol faults.
    requireHostHeader: false,
  });
  // With a limit, headers beyond it would be dropped silently, including a second Host.
  server.maxHeadersCount = 0;
  server.timeout = idle_ms;
  const failures = createFailureLog(deps.log);
  return listen(server, { ...deps, failures, originals: createOriginals(deps) });
}

function listen(server: Server, deps: ObservedDeps): DeliveryServer {
  const { baseUrl } = deps;
  const underWay = new Set<Promise<void>>();
  const faults = createConnectionFaults();
  const refusals = createRefusalWriter(baseUrl);
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    faults.note(request, response);
    assignRequestId(request, response);
    if (isLastOnConnection(request) || !server.listening) response.setHeader('connection', 'close');
    if (protocolFault(request) !== undefined)
      return observeRefused(deps, refusals.request(response));
    const delivery = traceRequest(request, response, async (span) => {
      const { status, source, code } = await deliverObserved(deps, { request, response, baseUrl });
      const refused = code === undefined ? {} : { 'tintype.error_code': code };
      const attributes = { 'tintype.source': source, ...refused };
      span.end({ route: 'delivery', status, attributes });
    });
    underWay.add(delivery);
    void delivery.then(() => underWay.delete(delivery));
  };
  const onFault = (socket: Duplex, error?: NodeJS.ErrnoException) =>
    faults.end(socket, {
      refuse: () =>
        observeRefused(deps, refusals.unread(socket, unreadRefusals[error?.code ?? ''])),
    });
  server
    .on('request', onRequest)
    .on('checkContinue', onRequest)
    .on('checkExpectation', onRequest)
    .on('connect', (_request, socket) => onFault(socket))
    .on('clientError', (error, socket) => onFault(socket, error));
  return Object.assign(server, { settled: async () => void (await Promise.all(underWay)) });
}

/** As little as of any refusal: anybody can cause these too. */
function observeRefused({ metrics, log }: ObservedDeps, refused: Refused | undefined): void {
  if (refused === undefined) return;
  const { status, code } = refused;
  metrics.delivery({ status, source: 'none', code, seconds: 0, bytes: 0 });
  log.debug('delivery', refused);
}

async function deliverObserved(deps: ObservedDeps, exchange: Exchange) {
  const { request, response } = exchange;
  const started = performance.now();
  const { source, bytes, code } = await handleDelivery(deps, exchange);
  const duration_ms = Math.round((performance.now() - started) * 10) / 10;
  const { statusCode: status } = response;
  deps.metrics.delivery({ status, source, code, seconds: duration_ms / 1000, bytes });
  const { method, headers, url: path } = request;
  const request_id = response.getHeader('x-request-id');
  const { host } = headers;
  // Only at debug: anybody could fill the log with forged URLs. The metrics count them by code.
  deps.log.debug('delivery', { method, host, path, status, code, duration_ms, request_id });
  return { status, source, code };
}
