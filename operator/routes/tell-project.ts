/**
 * Reports to a Project what became of its routes: in its condition Routed, which has its own field manager, and by
 * Events.
 */
import { isGoing, type TenantObject, typeOf } from '../cluster/tenant-object.ts';
import type { Condition } from '../conditions.ts';
import { happeningOf } from '../installation/altered.ts';
import { API_VERSION } from '../kinds.ts';
import { isOvertaken } from '../kube/kube-failure.ts';
import { findCondition, stampConditions } from '../kube/live-condition.ts';
import type { RouteContext, RoutePass } from './project-route.ts';

type Telling = Pick<RouteContext, 'client' | 'clock' | 'told' | 'events'>;

/** Whether the resource already says so, for its generation. */
export function isTold({ metadata, status }: TenantObject, wanted: Condition): boolean {
  const said = findCondition(status, 'Routed');
  return (
    said?.observedGeneration === (metadata.generation ?? 0) &&
    said.status === wanted.status &&
    said.reason === wanted.reason &&
    said.message === wanted.message
  );
}

export async function tellProject(
  object: TenantObject,
  { condition, tried }: Pick<RoutePass, 'condition' | 'tried'>,
  { client, clock, told, events }: Telling,
): Promise<void> {
  if (isGoing(object)) return;
  const { name, namespace = '', uid } = object.metadata;
  const regarding = { ...object, apiVersion: API_VERSION, kind: 'Project' };
  for (const each of tried) events.tell(regarding, happeningOf(each));
  told.set(uid, condition);
  if (isTold(object, condition)) return;
  const { reason, message: note } = condition;
  // Every write makes the condition flip, so an Event keeps the record.
  if (reason === 'RouteUndone') {
    events.tell(regarding, { type: 'Warning', reason, action: 'Apply', note });
  }
  const conditions = stampConditions(object, [condition], clock.now());
  const declared = { metadata: { name, namespace, uid }, status: { conditions } };
  const answer = await client.applyStatus(typeOf('Project'), declared, { owner: 'tintype/routed' });
  if (!answer.ok && !isOvertaken(answer.failure)) throw answer.failure;
}
