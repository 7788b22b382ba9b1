/**
 * Writes the status of a resource where it differs, and tells people of what changed in it: an Event where Ready became
 * something else but at once True, a time where it became ready. Spec: Resources and their fields.
 */
import { type Outcome, outcomeOf } from '../conditions.ts';
import { API_VERSION } from '../kinds.ts';
import { unwrap } from '../kube/kube-failure.ts';
import { findCondition, isNews } from '../kube/live-condition.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import { isWritten, withKept } from './status.ts';
import { type TenantKind, type TenantObject, type TenantStatus, typeOf } from './tenant-object.ts';

export type Telling = Pick<ObjectContext, 'client' | 'events' | 'metrics' | 'clock' | 'told'>;

type Writing = { object: TenantObject; status: TenantStatus };

export async function writeStatus(
  kind: TenantKind,
  { object, status: wanted }: Writing,
  context: Telling,
): Promise<void> {
  const status = withKept(object, wanted, 'Routed');
  context.told?.take(object, status);
  if (isWritten(object, status)) return;
  const { name, namespace = '', uid, resourceVersion } = object.metadata;
  // What is only repeated must not stand in the place of a newer word.
  const version = status === wanted ? {} : { resourceVersion };
  // With its uid: a namesake that came in between is not told of this one.
  const declared = { metadata: { name, namespace, uid, ...version }, status };
  const answer = await context.client.applyStatus(typeOf(kind), declared, {
    owner: 'tintype/status',
  });
  // It went while it was looked at: nobody is left to be told.
  if (!answer.ok && answer.failure.reason === 'NotFound') return;
  unwrap(answer);
  tellTransition(kind, { object, status }, context);
}

function tellTransition(
  kind: TenantKind,
  { object, status }: Writing,
  { events, metrics, clock }: Telling,
): void {
  const before = findCondition(object.status, 'Ready');
  const now = findCondition(status, 'Ready');
  if (now === undefined) return;
  const since = before?.lastTransitionTime ?? object.metadata.creationTimestamp;
  if (before?.status !== 'True' && now.status === 'True' && since !== undefined) {
    metrics.resourceReady(kind, (clock.now().getTime() - Date.parse(since)) / 1000);
  }
  const outcome = outcomeOf(status.conditions ?? []);
  if (outcome === 'refused' && isNews(before, now)) metrics.reconcileRefused(kind);
  if (before?.status === now.status && before.reason === now.reason) return;
  // What became ready at once, as it should, is no news: the status has said it.
  if (before === undefined && now.status === 'True') return;
  const type = TYPES[outcome];
  const { reason, message: note } = now;
  events.tell(
    { ...object, apiVersion: API_VERSION, kind },
    { type, reason, action: 'Reconcile', note },
  );
}

const TYPES: Readonly<Record<Outcome, 'Normal' | 'Warning'>> = {
  done: 'Normal',
  waiting: 'Normal',
  held: 'Warning',
  refused: 'Warning',
};
