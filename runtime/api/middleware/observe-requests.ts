/** One log line, one measurement and one span per request, labeled with the endpoint's pattern, not the raw path. */
import type { NextFunction, Request, Response } from 'express';
import { type RequestSpan, traceRequest } from '../../platform/http/trace-request.ts';
import type { ApiDeps } from '../deps.ts';
import { requestIdOf } from './request-id.ts';

const PROVIDERS = [
  { route: '/v1/billing/providera/webhook', provider: 'a', secret: 'providerASecret' },
  { route: '/v1/billing/providerb/webhook', provider: 'b', secret: 'providerBSecret' },
] as const;

type Observed = Pick<ApiDeps, 'log' | 'metrics' | (typeof PROVIDERS)[number]['secret']>;

export function observeRequests({ log, metrics, ...secrets }: Observed) {
  // Calls for a provider that the deployment does not use are not counted as provider events.
  const had = PROVIDERS.filter(({ secret }) => secrets[secret] !== undefined);
  const providers = new Map<string, 'a' | 'b'>(had.map(({ route, provider }) => [route, provider]));
  for (const provider of providers.values()) {
    for (const result of ['taken', 'refused', 'unsigned']) {
      metrics.providerEvent({ provider, result, count: 0 });
    }
  }
  return function observe(request: Request, response: Response, next: NextFunction): void {
    traceRequest(request, response, (span) => {
      watch(request, response, span);
      next();
    });
  };

  function watch(request: Request, response: Response, span: RequestSpan): void {
    const started = performance.now();
    response.once('close', () => {
      const duration_ms = Math.round((performance.now() - started) * 10) / 10;
      const route = typeof request.route?.path === 'string' ? request.route.path : 'none';
      const { method } = request;
      const status = response.writableFinished ? response.statusCode : 499;
      metrics.apiRequest({ method, route, status, seconds: duration_ms / 1000 });
      const provider = providers.get(route);
      if (provider !== undefined)
        metrics.providerEvent({ provider, result: resultOf(response, status), count: 1 });
      const code: unknown = response.locals['code'];
      const request_id = requestIdOf(response);
      // Successful reads are not worth an info line.
      const level = method === 'GET' && status < 400 ? 'debug' : 'info';
      log[level]('request', { method, route, status, code, duration_ms, request_id });
      const attributes = typeof code === 'string' ? { 'tintype.error_code': code } : {};
      span.end({ route, status, attributes });
    });
  }
}

/**
 * Only signed events are surely the provider's: anybody may send requests that are too large, too
 * many, too slow or incomplete.
 */
function resultOf({ locals }: Response, status: number): 'taken' | 'refused' | 'unsigned' {
  if (locals['known'] !== true) return 'unsigned';
  return status < 400 ? 'taken' : 'refused';
}
