/** Reads the Secrets that an ImageService names, each by its name: Secrets are never listed, watched or kept. */
import type { ImageServiceSpec } from '../image-service/schema.ts';
import { type FoundSecrets, secretNeeds } from '../image-service/secrets.ts';
import type { KubeClient } from '../kube/client.ts';
import { type Secret, secrets } from '../kube/core-types.ts';

export async function readSecrets(
  client: KubeClient,
  namespace: string,
  spec: ImageServiceSpec,
): Promise<FoundSecrets> {
  const names = new Set(secretNeeds(spec).map(({ secret }) => secret));
  const found = await Promise.all(
    [...names].map(async (name) => [name, await readSecret(client, { name, namespace })] as const),
  );
  return Object.fromEntries(found.filter(([, data]) => data !== undefined)) as FoundSecrets;
}

export async function readSecret(
  client: KubeClient,
  place: { name: string; namespace: string },
): Promise<Record<string, string> | undefined> {
  const answer = await client.get(secrets, place);
  if (answer.ok) return decode(answer.value);
  if (answer.failure.reason === 'NotFound') return undefined;
  throw answer.failure;
}

function decode({ data = {} }: Secret): Record<string, string> {
  const entries = Object.entries(data);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}
