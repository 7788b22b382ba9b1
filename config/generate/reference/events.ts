/**
 * Tables from runtime/core/events.ts: the event kinds with their data, and the headers of a delivery.
 */
import {
  additionalEventKinds,
  type EventKind,
  eventKinds,
  webhookHeaders,
} from '../../../runtime/core/events.ts';
import { code, codes, table } from './markdown.ts';

export function eventTable(): string {
  const rows = Object.entries<EventKind>({ ...eventKinds, ...additionalEventKinds }).map(
    ([name, { sent_when, data }]) => [code(name), sent_when, codes(Object.keys(data.shape))],
  );
  return table(['event', 'sent when', 'data'], rows);
}

export function webhookHeaderTable(): string {
  const headers = webhookHeaders({
    event: '<event>',
    id: '<id>',
    signature: 't=<unix seconds>,v1=<hex>',
  });
  const rows = Object.entries(headers).map(([name, value]) => [code(name), code(value)]);
  return table(['header', 'value'], rows);
}
