/** The ConfigMaps that an ImageService names: a missing one is reported before a pod waits for it in vain. */
import { digest } from './render/object.ts';
import type { ImageServiceSpec } from './schema.ts';

/** By name; a ConfigMap that does not exist has no entry. */
export type FoundConfigMaps = Readonly<Record<string, Readonly<Record<string, string>>>>;

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

/** `digest` changes with the files; undefined when no ConfigMap is named. */
export function validateConfigMaps(
  spec: ImageServiceSpec,
  found: FoundConfigMaps,
): { problems: ConfigMapProblem[]; digest: string | undefined } {
  const needs = configMapNeeds(spec);
  const problems = needs.flatMap((need) => problemOf(need, found));
  return { problems, digest: needs.length === 0 ? undefined : digestOf(needs, found) };
}

function problemOf(
  { field, name, key }: ConfigMapNeed,
  { [name]: files }: FoundConfigMaps,
): ConfigMapProblem[] {
  if (files === undefined) {
    const message = `ConfigMap '${name}' (\`spec.${field}\`) does not exist: create it in this namespace with the key ${key}.`;
    return [{ reason: 'ConfigMapNotFound', message }];
  }
  if (Object.hasOwn(files, key)) return [];
  const keys = Object.keys(files);
  const there = keys.length === 0 ? 'it is empty' : `it has ${keys.toSorted().join(', ')}`;
  const message = `Key '${key}' of ConfigMap '${name}' (\`spec.${field}\`) is missing: ${there}.`;
  return [{ reason: 'ConfigMapKeyMissing', message }];
}

function digestOf(needs: readonly ConfigMapNeed[], found: FoundConfigMaps): string {
  const files = needs.map(({ name, key }) => found[name]?.[key] ?? null);
  return digest(files);
}
