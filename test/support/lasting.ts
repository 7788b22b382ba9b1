/** Reads the objects of a namespace without the fields that differ between two equal sets of objects. */
import type { ResourceType } from '../../operator/kube/resource.ts';
import { collectionPath } from '../../operator/kube/resource.ts';
import { kubeRequest, type PlaneAddress } from './kube-request.ts';

const VOLATILE = new Set([
  ...['resourceVersion', 'creationTimestamp', 'namespace', 'generation'],
  ...['time', 'lastTransitionTime', 'lastUpdateTime', 'clusterIP', 'clusterIPs'],
  // A hash of the whole object, including the uid of its owner. Tests know that it is right because
  // the next pass writes nothing.
  'tintype.dev/applied',
]);

const UID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/** Returns the objects of each type, sorted by name. */
export async function lastingIn(
  plane: PlaneAddress,
  namespace: string,
  types: readonly ResourceType[],
): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const type of types) {
    const { status, body } = await kubeRequest(plane, { path: collectionPath(type, namespace) });
    if (status === 404) continue;
    if (status !== 200) throw new Error(`${type.plural}: ${status} ${JSON.stringify(body)}`);
    found[type.plural] = (body['items'] as unknown[]).map(lasting);
  }
  return found;
}

export function lasting<T>(object: T): T {
  const kept = (name: string, value: unknown) => (VOLATILE.has(name) ? undefined : value);
  return JSON.parse(JSON.stringify(object, kept).replaceAll(UID, 'UID')) as T;
}
