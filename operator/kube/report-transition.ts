/**
 * Reports what a resource's new status changed: an Event when Ready changes, except if it is True from the start; the
 * time until it became ready; and a count of refused specs. Spec: Resources and their fields.
 */
import type { EventRecorder } from './events.ts';
import { findCondition, isNewReason, type LiveCondition } from './live-condition.ts';
import type { KubeMetrics } from './metrics.ts';
import type { KubeObject } from './resource.ts';
import type { TimedClock } from './timed-clock.ts';

type ReadyCondition = { type: string; status: string; reason: string; message: string };

type Status = { conditions?: readonly LiveCondition<ReadyCondition>[] };

type Transition = {
  /** The object before the change. */
  object: KubeObject & { apiVersion: string; kind: string; status?: Status };
  status: Status;
  /** Only a change of the resource helps. */
  isRefused: boolean;
};

type ReportContext = {
  events: Pick<EventRecorder, 'record'>;
  metrics: KubeMetrics;
  clock: Pick<TimedClock, 'now'>;
};

export function reportTransition(
  { object, status, isRefused }: Transition,
  { events, metrics, clock }: ReportContext,
): void {
  const { kind, metadata } = object;
  const before = findCondition(object.status, 'Ready');
  const now = findCondition(status, 'Ready');
  if (now === undefined) return;
  const since = before?.lastTransitionTime ?? metadata.creationTimestamp;
  if (before?.status !== 'True' && now.status === 'True' && since !== undefined) {
    metrics.resourceReady(kind, (clock.now().getTime() - Date.parse(since)) / 1000);
  }
  // An outage in between does not make it another refusal.
  const refused = findCondition(object.status, 'Accepted') ?? before;
  if (isRefused && isNewReason(refused, now)) metrics.reconcileRefused(kind);
  if (before?.status === now.status && before.reason === now.reason) return;
  // A resource that is ready from the start is no news: the status says it.
  if (before === undefined && now.status === 'True') return;
  events.record(object, {
    type: findCondition(status, 'Stalled')?.status === 'True' ? 'Warning' : 'Normal',
    ...{ reason: now.reason, action: 'Reconcile', note: now.message },
  });
}
