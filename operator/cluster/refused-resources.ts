/**
 * Refused resources: only a change helps them, so they are retried ever more seldom. When another resource of the kind
 * releases something they may collide with, such as a slug, a name or a host, they are retried at once.
 */
import { keyOf } from '../kube/resource.ts';
import type { RowsChanged } from './reconcile-rows.ts';
import type { TenantState } from './tenant-controllers.ts';
import { type TenantKind, type TenantObject, tenantTypes } from './tenant-object.ts';

type Known = { kind: TenantKind; object: TenantObject };

export type RefusedResources = {
  note(known: Known, isRefused: boolean): void;
  of(kind: TenantKind): readonly string[];
  clear(): void;
};

export function createRefusedResources(): RefusedResources {
  const all = new Map(tenantTypes.map(({ kind }) => [kind, new Set<string>()]));
  return {
    note: ({ kind, object }, isRefused) =>
      void all.get(kind)?.[isRefused ? 'add' : 'delete'](keyOf(object.metadata)),
    of: (kind) => [...(all.get(kind) ?? [])],
    clear: () => {
      for (const keys of all.values()) keys.clear();
    },
  };
}

export function requeueRefused({ refused, queues }: TenantState, kind: TenantKind): void {
  for (const key of refused.of(kind)) queues.get(kind)?.add(key, 'change');
}

/** Inserted rows release nothing. */
export function canUnblockOthers({ differences }: RowsChanged): boolean {
  return differences.some(({ action }) => action !== 'insert');
}
