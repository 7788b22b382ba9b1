/** Spans at both ends of a queue: where a message is sent, and where it is processed. */

import type { SpanKind } from '../trace-context.ts';
import { traced } from '../tracing/spans.ts';
import type { QueueName } from './queue.ts';

const KINDS = { send: 'producer', call: 'client', process: 'consumer' } as const;

export function tracedMessage<T>(
  operation: keyof typeof KINDS,
  name: QueueName,
  work: () => Promise<T>,
): Promise<T> {
  const kind: SpanKind = KINDS[operation];
  const attributes = {
    'messaging.destination.name': name,
    'messaging.operation.type': operation,
  };
  return traced(`${operation} ${name}`, { kind, attributes }, work);
}
