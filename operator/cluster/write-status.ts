/**
 * Writes a resource's status where it differs, and publishes an Event about what changed. Spec: Resources and their
 * fields.
 */
import { API_VERSION } from '../kinds.ts';
import { unwrap } from '../kube/kube-failure.ts';
import { findCondition } from '../kube/live-condition.ts';
import { reportTransition } from '../kube/report-transition.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import { hasStatus, withKept } from './status.ts';
import { type TenantKind, type TenantObject, type TenantStatus, typeOf } from './tenant-object.ts';

export type StatusContext = Pick<
  ObjectContext,
  'client' | 'events' | 'metrics' | 'clock' | 'writtenStatuses'
>;

type Writing = { object: TenantObject; status: TenantStatus };

export async function writeStatus(
  kind: TenantKind,
  { object, status: wanted }: Writing,
  context: StatusContext,
): Promise<void> {
  const status = withKept(object, wanted, 'Routed');
  context.writtenStatuses?.record(object, status);
  if (hasStatus(object, status)) return;
  const { name, namespace = '', uid, resourceVersion } = object.metadata;
  // A repeated status must not overwrite a newer one.
  const version = status === wanted ? {} : { resourceVersion };
  // Includes the uid, so that the status never goes to a new resource of the same name.
  const declared = { metadata: { name, namespace, uid, ...version }, status };
  const answer = await context.client.applyStatus(typeOf(kind), declared, {
    owner: 'tintype/status',
  });
  // The resource was deleted during the pass: nobody is left to inform.
  if (!answer.ok && answer.failure.reason === 'NotFound') return;
  unwrap(answer);
  const isRefused = findCondition(status, 'Accepted')?.status === 'False';
  const regarding = { ...object, apiVersion: API_VERSION, kind };
  reportTransition({ object: regarding, status, isRefused }, context);
}
