/** One log line, one measurement and one span a request, under the endpoint's pattern and never under the raw path. */
import type { NextFunction, Request, Response } from 'express';
import { onRequestTrail, type RequestSpan } from '../../platform/http/request-trail.ts';
import type { ApiDeps } from '../deps.ts';
import { requestIdOf } from './request-id.ts';

const PROVIDERS: ReadonlyMap<string, 'a' | 'b'> = new Map([
  ['/v1/billing/providera/webhook', 'a'],
  ['/v1/billing/providerb/webhook', 'b'],
]);
/** Whoever sent it was not known to be the provider. */
const UNSIGNED = [401, 411, 413];

export function observeRequests({ log, metrics }: Pick<ApiDeps, 'log' | 'metrics'>) {
  for (const provider of PROVIDERS.values()) {
    for (const result of ['taken', 'refused', 'unsigned']) {
      metrics.providerEvent({ provider, result, count: 0 });
    }
  }
  return function observe(request: Request, response: Response, next: NextFunction): void {
    onRequestTrail(request, response, (span) => {
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
      const provider = PROVIDERS.get(route);
      if (provider !== undefined)
        metrics.providerEvent({ provider, result: resultOf(status), count: 1 });
      const code: unknown = response.locals['code'];
      const request_id = requestIdOf(response);
      // What was only read, and found, is no news.
      const level = method === 'GET' && status < 400 ? 'debug' : 'info';
      log[level]('request', { method, route, status, code, duration_ms, request_id });
      const attributes = typeof code === 'string' ? { 'tintype.error_code': code } : {};
      span.end({ route, status, attributes });
    });
  }
}

function resultOf(status: number): 'taken' | 'refused' | 'unsigned' {
  if (UNSIGNED.includes(status)) return 'unsigned';
  return status < 400 ? 'taken' : 'refused';
}
