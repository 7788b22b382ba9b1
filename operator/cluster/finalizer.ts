/** The finalizer of a resource that owns rows: it keeps the resource until the rows are released. Spec: Project. */
import { unwrap } from '../kube/kube-failure.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import {
  FINALIZER,
  hasFinalizer,
  type TenantKind,
  type TenantObject,
  typeOf,
} from './tenant-object.ts';

type Finalizing = { object: TenantObject; wanted: 'present' | 'absent' };

export async function writeFinalizer(
  kind: TenantKind,
  { object, wanted }: Finalizing,
  { client, metrics, clock }: ObjectContext,
): Promise<void> {
  if (hasFinalizer(object) === (wanted === 'present')) return;
  const { finalizers = [], resourceVersion, deletionTimestamp } = object.metadata;
  const others = finalizers.filter((each) => each !== FINALIZER);
  const metadata = {
    resourceVersion,
    finalizers: wanted === 'present' ? [...others, FINALIZER] : others,
  };
  const answer = await client.merge(typeOf(kind), object.metadata, { body: { metadata } });
  const isGone = !answer.ok && answer.failure.reason === 'NotFound';
  if (!isGone) unwrap(answer);
  if (deletionTimestamp === undefined) return;
  metrics.resourceDeleted(kind, (clock.now().getTime() - Date.parse(deletionTimestamp)) / 1000);
}
