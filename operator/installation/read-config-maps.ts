/** The keys of the ConfigMaps that an ImageService names, each got by its name, as its Secrets are. */
import { configMapNeeds, type FoundConfigMaps } from '../image-service/config-maps.ts';
import type { ImageServiceSpec } from '../image-service/schema.ts';
import type { KubeClient } from '../kube/client.ts';
import { type KubeObject, type Place, resourceType } from '../kube/resource.ts';

type ConfigMap = KubeObject & { data?: object; binaryData?: object };

const configMaps = resourceType<ConfigMap>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
});

export async function readConfigMaps(
  client: KubeClient,
  namespace: string,
  spec: ImageServiceSpec,
): Promise<FoundConfigMaps> {
  const names = new Set(configMapNeeds(spec).map(({ name }) => name));
  const found = await Promise.all(
    [...names].map(async (name) => [name, await readKeys(client, { name, namespace })] as const),
  );
  return Object.fromEntries(found.filter(([, keys]) => keys !== undefined)) as FoundConfigMaps;
}

async function readKeys(client: KubeClient, place: Place): Promise<string[] | undefined> {
  const answer = await client.get(configMaps, place);
  if (answer.ok) return Object.keys({ ...answer.value.data, ...answer.value.binaryData });
  if (answer.failure.reason === 'NotFound') return undefined;
  throw answer.failure;
}
