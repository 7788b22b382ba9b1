/**
 * The context of every piece of work, within a process and from one to the next: the id of the request that started it,
 * and its place in a trace when tracing is on. Spec: Errors, Envelope (x-request-id).
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { REQUEST_ID_PATTERN } from '../core/limits.ts';

export type TraceContext = {
  readonly request_id?: string | undefined;
  /** The open span; absent when nothing is traced. */
  readonly span?: OpenSpan | undefined;
  /** In the format of W3C Trace Context: the span in another process from which the work came. */
  readonly traceparent?: string | undefined;
};

export type OpenSpan = {
  readonly traceparent: string;
  readonly trace_id: string;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  end(failure?: unknown): void;
};

export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer';
export type SpanAttributes = { readonly [name in SpanAttribute]?: string | number | undefined };
export type SpanAttribute = (typeof spanAttributes)[number];

/**
 * Every attribute that a span may carry. No header, body, query or statement value is among them.
 */
export const spanAttributes = [
  'http.request.method',
  'http.response.status_code',
  'http.route',
  'server.address',
  'error.type',
  'db.system.name',
  'db.operation.name',
  'db.query.text',
  'messaging.destination.name',
  'messaging.operation.type',
  'tintype.request_id',
  'tintype.error_code',
  'tintype.bucket',
  'tintype.object_key',
  'tintype.upload_id',
  'tintype.project_id',
  'tintype.attempt',
  'tintype.result',
  'tintype.job',
  'tintype.source',
] as const;

const contexts = new AsyncLocalStorage<TraceContext>();

export function currentTraceContext(): TraceContext {
  return contexts.getStore() ?? {};
}

export function withTraceContext<T>(context: TraceContext, work: () => T): T {
  return contexts.run(context, work);
}

/** Headers, of HTTP or of a message, with which the next process continues. */
export type TraceHeaders = { readonly [name in (typeof traceHeaderNames)[number]]?: string };

const traceHeaderNames = ['x-request-id', 'traceparent'] as const;

export function traceHeaders(): TraceHeaders {
  const { request_id, span, traceparent: came } = currentTraceContext();
  const traceparent = span?.traceparent ?? came;
  return {
    ...(request_id === undefined ? {} : { 'x-request-id': request_id }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Continues with the received headers; malformed ones are ignored. */
export function continueTrace<T>(headers: unknown, work: () => T): T {
  return contexts.run(parseTraceHeaders(headers), work);
}

export function parseTraceHeaders(headers: unknown): TraceContext {
  const { 'x-request-id': id, traceparent } = (headers ?? {}) as Record<string, unknown>;
  return {
    ...(typeof id === 'string' && REQUEST_ID_PATTERN.test(id) ? { request_id: id } : {}),
    ...(typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? { traceparent } : {}),
  };
}
