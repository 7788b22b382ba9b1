/**
 * Spans around work. While tracing is off, only the work is called: no span is created, and nothing of OpenTelemetry is
 * loaded.
 */
import {
  currentTraceContext,
  type OpenSpan,
  type SpanAttributes,
  type SpanKind,
  type TraceContext,
  withTraceContext,
} from '../trace-context.ts';

export type SpanFacts = { kind?: SpanKind; attributes?: SpanAttributes };

export type Tracer = { open(name: string, facts: SpanFacts, context: TraceContext): OpenSpan };

let current: Tracer | undefined;

/** One tracer per process, as all spans go to one place; undefined turns tracing off. */
export function setTracer(tracer: Tracer | undefined): void {
  current = tracer;
}

/** Whether the current work belongs to a trace: loops that only look for work get no span. */
export function isTraced(): boolean {
  if (current === undefined) return false;
  const { span, traceparent } = currentTraceContext();
  return span !== undefined || traceparent !== undefined;
}

/** A span that lasts as long as the work; an error thrown by the work marks it as failed. */
export async function traced<T>(
  name: string,
  facts: SpanFacts,
  work: () => Promise<T>,
): Promise<T> {
  if (current === undefined) return work();
  const context = currentTraceContext();
  const span = current.open(name, facts, context);
  try {
    const result = await withTraceContext({ ...context, span }, work);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** A span that the caller ends, with the context inside it; without tracing the unchanged context. */
export function openSpan(name: string, facts: SpanFacts, context: TraceContext): TraceContext {
  return current === undefined ? context : { ...context, span: current.open(name, facts, context) };
}

/** Adds attributes to the open span. */
export function describeSpan(attributes: SpanAttributes): void {
  currentTraceContext().span?.set(attributes);
}
