/** What is sampled for the status page, and when samples open and close an incident. Spec: Public, status. */
import { MINUTE_MS } from './durations.ts';
import {
  STATUS_FAILED_SAMPLES_TO_OPEN,
  STATUS_GOOD_SAMPLES_TO_CLOSE,
  STATUS_SAMPLES_APART_MINUTES_MAX,
} from './limits.ts';

/** Each service of the status page, with a description. */
export const statusServices = {
  api: 'The management API',
  delivery: 'Delivery of images',
  render: 'Rendering of new sizes',
  ingest: 'Processing of uploads',
  webhooks: 'Sending of webhooks',
} as const satisfies Record<string, string>;

export type StatusService = keyof typeof statusServices;

/** One probe of a service. */
export type Sample = { readonly sampled_at: Date; readonly ok: boolean };

/** The effect of the newest samples: an incident begins or ends, and since when. */
export type IncidentMove = { move: 'open' | 'close'; at: Date } | undefined;

/**
 * Several consecutive failed samples open an incident, starting at the first of them; several good
 * ones close it, at the first of them. `samples` are newest first.
 */
export function incidentMove(samples: readonly Sample[], state: 'open' | 'none'): IncidentMove {
  const isOpen = state === 'open';
  const count = isOpen ? STATUS_GOOD_SAMPLES_TO_CLOSE : STATUS_FAILED_SAMPLES_TO_OPEN;
  const newest = samples.slice(0, count);
  const first = newest.at(-1);
  if (first === undefined || newest.length < count) return undefined;
  if (newest.some(({ ok }) => ok !== isOpen)) return undefined;
  const areGaps = newest.map(({ sampled_at }, at) =>
    hasSampleGap(newest[at + 1]?.sampled_at, sampled_at),
  );
  if (!isOpen && areGaps.includes(true)) return undefined;
  return { move: isOpen ? 'close' : 'open', at: first.sampled_at };
}

/** Whether two samples are too far apart to know the service's state between them. */
export function hasSampleGap(earlier: Date | undefined, later: Date): boolean {
  if (earlier === undefined) return false;
  return later.getTime() - earlier.getTime() > STATUS_SAMPLES_APART_MINUTES_MAX * MINUTE_MS;
}
