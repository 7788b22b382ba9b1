/** Objects of every cluster that are read and written by their names, and never listed. */
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
