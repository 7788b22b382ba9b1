/** Built-in objects that are read and written by name, and never listed. */
import { type KubeObject, resourceType } from './resource.ts';

type Texts = Record<string, string>;

export type Secret = KubeObject & { data?: Texts };
export type ConfigMap = KubeObject & { data?: Texts; binaryData?: Texts };

export const secrets = resourceType<Secret>({
  apiVersion: 'v1',
  kind: 'Secret',
  plural: 'secrets',
});

export const configMaps = resourceType<ConfigMap>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
});

/** The contents of the file that a pod would find for the key; undefined if there is none. */
export function bytesOf(
  { data, binaryData }: ConfigMap,
  { kind, key }: { kind: 'ConfigMap' | 'Secret'; key: string },
): Buffer | undefined {
  const encoded = binaryData?.[key] ?? (kind === 'Secret' ? data?.[key] : undefined);
  if (encoded !== undefined) return Buffer.from(encoded, 'base64');
  const text = data?.[key];
  return text === undefined ? undefined : Buffer.from(text);
}
