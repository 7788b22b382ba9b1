/**
 * The Secret that a Project names for its callback. A Secret that somebody else made is never written: whoever may
 * write a Project could otherwise overwrite any Secret of the namespace.
 */
import { API_VERSION } from '../kinds.ts';
import type { KubeClient } from '../kube/client.ts';
import { unwrap } from '../kube/kube-failure.ts';
import { type KubeObject, resourceType } from '../kube/resource.ts';
import type { TenantObject } from './tenant-object.ts';

type Secret = KubeObject & { data?: Record<string, string> };

const secrets = resourceType<Secret>({
  apiVersion: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
});

const KEY = 'secret';

/** `taken`: there is one of this name that the resource does not own. */
export async function writeCallbackSecret(
  client: KubeClient,
  owner: TenantObject,
  { name, value }: { name: string; value: string },
): Promise<'written' | 'taken'> {
  const { namespace } = owner.metadata;
  const found = await client.get(secrets, { name, namespace });
  if (!found.ok && found.failure.reason !== 'NotFound') throw found.failure;
  const data = { [KEY]: Buffer.from(value).toString('base64') };
  if (!found.ok) {
    unwrap(await client.create(secrets, declared(owner, { name, data })));
    return 'written';
  }
  if (!isOwned(found.value, owner)) return 'taken';
  if (found.value.data?.[KEY] !== data[KEY]) {
    // Only this very Secret, as it was when its owner was looked at.
    const { resourceVersion } = found.value.metadata;
    const body = { metadata: { resourceVersion }, data };
    unwrap(await client.merge(secrets, { name, namespace }, { body }));
  }
  return 'written';
}

function isOwned({ metadata }: Secret, owner: TenantObject): boolean {
  return metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;
}

function declared(
  { metadata }: TenantObject,
  { name, data }: { name: string; data: Record<string, string> },
) {
  const { namespace = '', uid } = metadata;
  const reference = { apiVersion: API_VERSION, kind: 'Project', name: metadata.name, uid };
  const labels = { 'app.kubernetes.io/managed-by': 'tintype' };
  return {
    metadata: { name, namespace, labels, ownerReferences: [{ ...reference, controller: true }] },
    type: 'Opaque',
    data,
  };
}
