/** Reads the ConfigMaps that an ImageService names, each by its name, like its Secrets. */
import { configMapNeeds, type FoundConfigMaps } from '../image-service/config-maps.ts';
import type { ImageServiceSpec } from '../image-service/schema.ts';
import type { KubeClient } from '../kube/client.ts';
import { configMaps } from '../kube/core-types.ts';
import type { Place } from '../kube/resource.ts';

type Files = Record<string, string>;

export async function readConfigMaps(
  client: KubeClient,
  namespace: string,
  spec: ImageServiceSpec,
): Promise<FoundConfigMaps> {
  const names = new Set(configMapNeeds(spec).map(({ name }) => name));
  const found = await Promise.all(
    [...names].map(async (name) => [name, await readFiles(client, { name, namespace })] as const),
  );
  return Object.fromEntries(found.filter(([, files]) => files !== undefined)) as FoundConfigMaps;
}

async function readFiles(client: KubeClient, place: Place): Promise<Files | undefined> {
  const answer = await client.get(configMaps, place);
  if (answer.ok) return { ...answer.value.binaryData, ...answer.value.data };
  if (answer.failure.reason === 'NotFound') return undefined;
  throw answer.failure;
}
