/**
 * Spans around work. While traces are off nothing is made and nothing of OpenTelemetry is loaded: the work is called,
 * and that is all.
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

/** One tracer for the process, as there is one place that its spans go to; undefined turns traces off. */
export function setTracer(tracer: Tracer | undefined): void {
  current = tracer;
}

/** Whether what runs belongs to a trace: what is done without one, in loops that look for work, is worth no span. */
export function isTraced(): boolean {
  if (current === undefined) return false;
  const { span, traceparent } = currentTrail();
  return span !== undefined || traceparent !== undefined;
}

/** A span as long as the work takes; what the work throws is its failure. */
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

/** A span that somebody else ends, and the trail inside of it; without traces the trail as it is. */
export function openSpan(name: string, facts: SpanFacts, trail: Trail): Trail {
  return current === undefined ? trail : { ...trail, span: current.open(name, facts, trail) };
}

/** Says more of the span that is open. */
export function describeSpan(attributes: SpanAttributes): void {
  currentTrail().span?.set(attributes);
}
