/**
 * Traces by OpenTelemetry, sent to a collector by OTLP over HTTP. Only this file loads its packages, and only if a
 * collector is configured. A span carries the attributes listed in trace-context.ts, with credentials masked; of a failure
 * its kind, never its message.
 */
import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  SpanKind as TelemetryKind,
  type Tracer as TelemetryTracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { type Log, maskSecrets } from '../log.ts';
import { createOutageLog } from '../outage-log.ts';
import {
  type OpenSpan,
  type SpanAttributes,
  type SpanKind,
  spanAttributes,
  type TraceContext,
} from '../trace-context.ts';
import type { Tracer } from './spans.ts';

export type Telemetry = {
  tracer: Tracer;
  /** Sends the remaining spans. */
  stop(): Promise<void>;
};

export type TelemetryOptions = { endpoint: string; name: string; log: Log };

const EXPORT_MS_MAX = 5000;
const EXPORT_EVERY_MS = 1000;

export function openTelemetry({ endpoint, name, log }: TelemetryOptions): Telemetry {
  const outage = createOutageLog(log, { says: 'traces do not reach the collector' });
  // The message contains the stack of the inner failure; ours would only show the logger.
  const says = (words: string) =>
    outage.failed(Object.assign(new Error(words), { stack: undefined }));
  const nothing = () => undefined;
  diag.setLogger(
    { error: says, warn: says, info: nothing, debug: nothing, verbose: nothing },
    DiagLogLevel.WARN,
  );
  const exporter = new OTLPTraceExporter({
    url: new URL('v1/traces', endpoint.endsWith('/') ? endpoint : `${endpoint}/`).href,
    timeoutMillis: EXPORT_MS_MAX,
  });
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: EXPORT_EVERY_MS,
    exportTimeoutMillis: EXPORT_MS_MAX,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': `tintype-${name}`,
      'process.pid': process.pid,
    }),
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer('tintype');
  return {
    tracer: { open: (span, facts, context) => open(tracer, { name: span, ...facts }, context) },
    // Failures to send have been logged by then, and must not make the end of the process a
    // failure.
    stop: () => provider.shutdown().catch(nothing),
  };
}

const KINDS = {
  internal: TelemetryKind.INTERNAL,
  server: TelemetryKind.SERVER,
  client: TelemetryKind.CLIENT,
  producer: TelemetryKind.PRODUCER,
  consumer: TelemetryKind.CONSUMER,
} as const satisfies Record<SpanKind, TelemetryKind>;

type Opening = { name: string; kind?: SpanKind; attributes?: SpanAttributes };

function open(
  tracer: TelemetryTracer,
  { name, kind = 'internal', attributes = {} }: Opening,
  context: TraceContext,
): OpenSpan {
  const { request_id } = context;
  const all = request_id === undefined ? attributes : { ...attributes, ...idOf(request_id) };
  const options = { kind: KINDS[kind], attributes: printable(all) };
  return wrap(tracer.startSpan(name, options, parentOf(context)));
}

const idOf = (request_id: string): SpanAttributes => ({ 'tintype.request_id': request_id });

function wrap(span: Span): OpenSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return {
    traceparent: `00-${traceId}-${spanId}-${flags}`,
    trace_id: traceId,
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(printable(attributes)),
    end: (failure) => {
      if (failure !== undefined) {
        span.setAttribute('error.type', typeOf(failure));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** The open span of this process, or else the remote one that the work came from. */
function parentOf({ span, traceparent }: TraceContext): Context {
  const [, traceId = '', spanId = '', flags = '0'] = (span?.traceparent ?? traceparent ?? '').split(
    '-',
  );
  if (traceId === '') return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16);
  const isRemote = span === undefined;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote });
}

const CHARACTERS_MAX = 500;
const known: ReadonlySet<string> = new Set(spanAttributes);

function printable(attributes: SpanAttributes): Record<string, string | number> {
  const entries = Object.entries(attributes).flatMap(([name, value]) => {
    if (value === undefined || !known.has(name)) return [];
    const shown = typeof value === 'string' ? maskSecrets(value).slice(0, CHARACTERS_MAX) : value;
    return [[name, shown] as const];
  });
  return Object.fromEntries(entries);
}

function typeOf(failure: unknown): string {
  if (!(failure instanceof Error)) return typeof failure === 'string' ? failure : typeof failure;
  return 'code' in failure && typeof failure.code === 'string' ? failure.code : failure.name;
}
