/**
 * Tells people of what a new status of a resource changed: an Event where Ready became something else but at once True,
 * a time where it became ready, and a count of what is refused for what it declares. Spec: Resources and their fields.
 */
import type { EventRecorder } from './events.ts';
import { findCondition, isNews, type LiveCondition } from './live-condition.ts';
import type { KubeMetrics } from './metrics.ts';
import type { KubeObject } from './resource.ts';
import type { TimedClock } from './timed-clock.ts';

type Said = { type: string; status: string; reason: string; message: string };

type Status = { conditions?: readonly LiveCondition<Said>[] };

type Transition = {
  /** As it was before. */
  object: KubeObject & { apiVersion: string; kind: string; status?: Status };
  status: Status;
  /** Only a change of the resource mends it. */
  isRefused: boolean;
};

type Telling = {
  events: Pick<EventRecorder, 'tell'>;
  metrics: KubeMetrics;
  clock: Pick<TimedClock, 'now'>;
};

export function tellTransition(
  { object, status, isRefused }: Transition,
  { events, metrics, clock }: Telling,
): void {
  const { kind, metadata } = object;
  const before = findCondition(object.status, 'Ready');
  const now = findCondition(status, 'Ready');
  if (now === undefined) return;
  const since = before?.lastTransitionTime ?? metadata.creationTimestamp;
  if (before?.status !== 'True' && now.status === 'True' && since !== undefined) {
    metrics.resourceReady(kind, (clock.now().getTime() - Date.parse(since)) / 1000);
  }
  // An outage in between makes it no other refusal.
  const refused = findCondition(object.status, 'Accepted') ?? before;
  if (isRefused && isNews(refused, now)) metrics.reconcileRefused(kind);
  if (before?.status === now.status && before.reason === now.reason) return;
  // What became ready at once, as it should, is no news: the status has said it.
  if (before === undefined && now.status === 'True') return;
  events.tell(object, {
    type: findCondition(status, 'Stalled')?.status === 'True' ? 'Warning' : 'Normal',
    ...{ reason: now.reason, action: 'Reconcile', note: now.message },
  });
}
