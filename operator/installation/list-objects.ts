/**
 * All objects of a type in a namespace, read from the API server and not from a cache: a pass must see the writes of
 * the previous one.
 */
import type { KubeClient } from '../kube/client.ts';
import { KubeFailure } from '../kube/kube-failure.ts';
import type { KubeObject, ResourceType } from '../kube/resource.ts';

type Wanted = { namespace: string; labels?: string };

/** Undefined if the cluster does not know the type. */
export async function listObjects<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  wanted: Wanted,
): Promise<T[] | undefined> {
  const answer = await client.listPage(type, { ...wanted, limit: 0 });
  if (answer.ok) return answer.value.items;
  if (answer.failure.reason === 'NotFound') return undefined;
  throw answer.failure;
}

export function ignoreForbidden(error: unknown): undefined {
  if (!(error instanceof KubeFailure && error.reason === 'Forbidden')) throw error;
}
