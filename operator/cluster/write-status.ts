/** Writes the status of a resource where it differs, and tells people of what changed in it. Spec: Resources and their fields. */
import { API_VERSION } from '../kinds.ts';
import { unwrap } from '../kube/kube-failure.ts';
import { findCondition } from '../kube/live-condition.ts';
import { tellTransition } from '../kube/tell-transition.ts';
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
  const isRefused = findCondition(status, 'Accepted')?.status === 'False';
  const regarding = { ...object, apiVersion: API_VERSION, kind };
  tellTransition({ object: regarding, status, isRefused }, context);
}
