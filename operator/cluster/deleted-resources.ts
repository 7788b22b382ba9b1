/**
 * Resources deleted before they had a finalizer, or without one: their rows are released nevertheless. One name can
 * have several, one after another, before a pass runs.
 */
import type { TenantKind, TenantObject } from './tenant-object.ts';

export type DeletedResources = {
  add(kind: TenantKind, key: string, last: TenantObject): void;
  of(kind: TenantKind, key: string): TenantObject[];
  /** Its rows were released. */
  drop(kind: TenantKind, key: string, last: TenantObject): void;
  clear(): void;
};

export function createDeletedResources(): DeletedResources {
  const all = new Map<string, Map<string, TenantObject>>();
  const nameOf = (kind: TenantKind, key: string) => `${kind} ${key}`;
  return {
    add: (kind, key, last) => {
      const name = nameOf(kind, key);
      const known = all.get(name) ?? new Map<string, TenantObject>();
      all.set(name, known.set(last.metadata.uid, last));
    },
    of: (kind, key) => [...(all.get(nameOf(kind, key))?.values() ?? [])],
    drop: (kind, key, { metadata }) => {
      const known = all.get(nameOf(kind, key));
      known?.delete(metadata.uid);
      if (known?.size === 0) all.delete(nameOf(kind, key));
    },
    clear: () => all.clear(),
  };
}
