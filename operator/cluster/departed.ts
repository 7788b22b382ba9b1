/**
 * Resources that went before they had a finalizer, or without it: their rows are let go of all the same. Of one name
 * there may be several, one after the other, before anybody comes to look.
 */
import type { TenantKind, TenantObject } from './tenant-object.ts';

export type Departed = {
  add(kind: TenantKind, key: string, last: TenantObject): void;
  of(kind: TenantKind, key: string): TenantObject[];
  /** This one was let go of. */
  drop(kind: TenantKind, key: string, last: TenantObject): void;
  clear(): void;
};

export function createDeparted(): Departed {
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
