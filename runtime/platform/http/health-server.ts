/**
 * What a process reports to those who watch it, on a separate port: /livez, /readyz (?exclude=NAME leaves out a check,
 * as in the Kubernetes API server) and /metrics. It answers from the start of the process to its very end, so that a
 * draining process is not taken for a dead one.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { findReadiness, type Probes } from '../readiness.ts';
import { prepareToClose } from './close-server.ts';
import { createConnectionFaults } from './connection-faults.ts';
import { listen } from './listen.ts';
import { refuseConnection } from './refuse-connection.ts';
import { unreadRefusals } from './unread-refusals.ts';

export type HealthOptions = {
  port: number;
  /** Evaluated at each request: a starting process needs other things than a running one. */
  probes: () => Probes;
  metrics: Metrics;
  log: Log;
  /** A problem that only a restart of the process fixes; undefined while there is none. */
  findStuck?: () => string | undefined;
};

export type HealthServer = { port: number; stop(): Promise<void> };

const OPTION = 'TINTYPE_METRICS_PORT';
const STOP_MS_MAX = 1000;
const HEADERS_MS_MAX = 5000;
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export async function startHealthServer(options: HealthOptions): Promise<HealthServer> {
  const server = createHealthServer(answer(options));
  const closing = prepareToClose(server);
  const port = await listen(server, { port: options.port, option: OPTION });
  return { port, stop: () => closing.close({ deadline_ms: STOP_MS_MAX, quiet_ms: 0 }) };
}

/** Node's own answers would lack the headers that each answer has here. */
function createHealthServer(answering: RequestListener): Server {
  const faults = createConnectionFaults();
  const server = createServer({ headersTimeout: HEADERS_MS_MAX, requireHostHeader: false });
  const onRequest: RequestListener = (request, response) => {
    faults.note(request, response);
    answering(request, response);
  };
  return server
    .on('request', onRequest)
    .on('checkExpectation', onRequest)
    .on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket) => {
      const { status } = unreadRefusals[code] ?? { status: 400 };
      const refuse = () => void refuseConnection(socket, { status, headers: HEADERS, body: '' });
      faults.end(socket, { refuse });
    });
}

type ProbeAnswer = { status: number; content_type: string; text: string };

function answer(options: HealthOptions): RequestListener {
  return (request, response) => {
    const [path = '', query] = request.url?.split('?', 2) ?? [];
    const excluded = new URLSearchParams(query).getAll('exclude');
    const failed = (error: unknown) => {
      options.log.error('a health check failed to respond', { path, error });
      return json(500, { status: 'failed' });
    };
    void answerProbe({ path, excluded }, options)
      .catch(failed)
      .then(({ status, content_type, text }) => {
        response.writeHead(status, { ...HEADERS, 'content-type': content_type });
        response.end(text);
      });
  };
}

type Asked = { path: string; excluded: readonly string[] };

async function answerProbe(
  { path, excluded }: Asked,
  options: HealthOptions,
): Promise<ProbeAnswer> {
  const { probes, metrics, log } = options;
  switch (path) {
    case '/livez':
      return answerLiveness(options);
    case '/readyz': {
      const asked = Object.entries(probes()).filter(([name]) => !excluded.includes(name));
      const readiness = await findReadiness(Object.fromEntries(asked), log);
      return json(readiness.ready ? 200 : 503, readiness);
    }
    case '/metrics':
      return { status: 200, ...(await metrics.print()) };
    default:
      return json(404, { status: 'there are /livez, /readyz and /metrics' });
  }
}

function answerLiveness({ findStuck, log }: HealthOptions): ProbeAnswer {
  const why = findStuck?.();
  if (why === undefined) return json(200, { status: 'ok' });
  log.error('not alive', { reason: why });
  return json(503, { status: why });
}

function json(status: number, body: object): ProbeAnswer {
  return { status, content_type: 'application/json', text: JSON.stringify(body) };
}
