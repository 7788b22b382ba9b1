/**
 * Reports to a Project what became of its routes: in its condition Routed, which has its own field manager, and by
 * Events.
 */
import { isBeingDeleted, type TenantObject, typeOf } from '../cluster/tenant-object.ts';
import type { Condition } from '../conditions.ts';
import { mutationEvent } from '../installation/mutated-object.ts';
import { API_VERSION } from '../kinds.ts';
import { isNotFoundOrConflict } from '../kube/kube-failure.ts';
import { findCondition, stampConditions } from '../kube/live-condition.ts';
import type { RouteContext, RoutePass } from './project-route.ts';

type ReportContext = Pick<RouteContext, 'client' | 'clock' | 'reportedConditions' | 'events'>;

/** Whether the resource already says so, for its generation. */
export function isReported({ metadata, status }: TenantObject, wanted: Condition): boolean {
  const said = findCondition(status, 'Routed');
  return (
    said?.observedGeneration === (metadata.generation ?? 0) &&
    said.status === wanted.status &&
    said.reason === wanted.reason &&
    said.message === wanted.message
  );
}

export async function reportToProject(
  object: TenantObject,
  { condition, newMutations }: Pick<RoutePass, 'condition' | 'newMutations'>,
  { client, clock, reportedConditions, events }: ReportContext,
): Promise<void> {
  if (isBeingDeleted(object)) return;
  const { name, namespace = '', uid } = object.metadata;
  const regarding = { ...object, apiVersion: API_VERSION, kind: 'Project' };
  for (const each of newMutations) events.record(regarding, mutationEvent(each));
  reportedConditions.set(uid, condition);
  if (isReported(object, condition)) return;
  const { reason, message: note } = condition;
  // Every write makes the condition flip, so an Event keeps the record.
  if (reason === 'RouteUndone') {
    events.record(regarding, { type: 'Warning', reason, action: 'Apply', note });
  }
  const conditions = stampConditions(object, [condition], clock.now());
  const declared = { metadata: { name, namespace, uid }, status: { conditions } };
  const answer = await client.applyStatus(typeOf('Project'), declared, { owner: 'tintype/routed' });
  if (!answer.ok && !isNotFoundOrConflict(answer.failure)) throw answer.failure;
}
