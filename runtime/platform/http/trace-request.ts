/**
 * A request's trace context: its id, and a span for all work done for it, which continues the caller's trace. The span
 * is named after the route, never the path: paths and queries of clients may contain confidential values.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseTraceHeaders, type SpanAttributes, withTraceContext } from '../trace-context.ts';
import { openSpan } from '../tracing/spans.ts';
import { assignRequestId } from './request-id.ts';

export type RequestSpan = {
  /** Call when the answer has ended, with the route's pattern. */
  end(seen: { route: string; status: number; attributes?: SpanAttributes }): void;
};

export function traceRequest<T>(
  request: IncomingMessage,
  response: ServerResponse,
  work: (span: RequestSpan) => T,
): T {
  const { method = '' } = request;
  const request_id = assignRequestId(request, response);
  const attributes = { 'http.request.method': method };
  const facts = { kind: 'server', attributes } as const;
  const context = openSpan(method, facts, { ...parseTraceHeaders(request.headers), request_id });
  const end: RequestSpan['end'] = ({ route, status, attributes: more = {} }) => {
    context.span?.rename(`${method} ${route}`);
    context.span?.set({ 'http.route': route, 'http.response.status_code': status, ...more });
    context.span?.end(status >= 500 ? String(status) : undefined);
  };
  return withTraceContext(context, () => work({ end }));
}
