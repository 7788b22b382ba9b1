/** The ConfigMaps that an ImageService names: what is missing is said before a pod waits for a file that never comes. */
import type { ImageServiceSpec } from './schema.ts';

/** By name of the ConfigMap, its keys; one that does not exist is missing here. */
export type FoundConfigMaps = Readonly<Record<string, readonly string[]>>;

export type ConfigMapProblem = {
  reason: 'ConfigMapNotFound' | 'ConfigMapKeyMissing';
  message: string;
};

type ConfigMapNeed = { field: string; name: string; key: string };

export function configMapNeeds(spec: ImageServiceSpec): ConfigMapNeed[] {
  return (['plansConfigMapRef', 'caConfigMapRef'] as const).flatMap((field) => {
    const reference = spec[field];
    return reference === undefined ? [] : [{ field, ...reference }];
  });
}

export function examineConfigMaps(
  spec: ImageServiceSpec,
  found: FoundConfigMaps,
): ConfigMapProblem[] {
  return configMapNeeds(spec).flatMap(({ field, name, key }): ConfigMapProblem[] => {
    const keys = found[name];
    if (keys === undefined) {
      const message = `ConfigMap '${name}' (\`spec.${field}\`) does not exist: create it in this namespace with the key ${key}.`;
      return [{ reason: 'ConfigMapNotFound', message }];
    }
    if (keys.includes(key)) return [];
    const there = keys.length === 0 ? 'it is empty' : `it has ${keys.toSorted().join(', ')}`;
    const message = `Key '${key}' of ConfigMap '${name}' (\`spec.${field}\`) is missing: ${there}.`;
    return [{ reason: 'ConfigMapKeyMissing', message }];
  });
}
