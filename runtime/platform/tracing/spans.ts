/**
 * Spans around work. While tracing is off, only the work is called: no span is created, and nothing of OpenTelemetry is
 * loaded.
 */
import {
  currentTrail,
  type OpenSpan,
  onTrail,
  type SpanAttributes,
  type SpanKind,
  type Trail,
} from '../trail.ts';

export type SpanFacts = { kind?: SpanKind; attributes?: SpanAttributes };

export type Tracer = { open(name: string, facts: SpanFacts, trail: Trail): OpenSpan };

let current: Tracer | undefined;

/** One tracer per process, as all spans go to one place; undefined turns tracing off. */
export function setTracer(tracer: Tracer | undefined): void {
  current = tracer;
}

/** Whether the current work belongs to a trace: loops that only look for work get no span. */
export function isTraced(): boolean {
  if (current === undefined) return false;
  const { span, traceparent } = currentTrail();
  return span !== undefined || traceparent !== undefined;
}

/** A span that lasts as long as the work; an error thrown by the work marks it as failed. */
export async function traced<T>(
  name: string,
  facts: SpanFacts,
  work: () => Promise<T>,
): Promise<T> {
  if (current === undefined) return work();
  const trail = currentTrail();
  const span = current.open(name, facts, trail);
  try {
    const result = await onTrail({ ...trail, span }, work);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** A span that the caller ends, with the trail inside it; without tracing the unchanged trail. */
export function openSpan(name: string, facts: SpanFacts, trail: Trail): Trail {
  return current === undefined ? trail : { ...trail, span: current.open(name, facts, trail) };
}

/** Adds attributes to the open span. */
export function describeSpan(attributes: SpanAttributes): void {
  currentTrail().span?.set(attributes);
}
