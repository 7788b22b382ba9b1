/**
 * Resources in memory, with caches that show them and an API server that writes their statuses: for tests of how
 * controllers interact, where a real cluster would add nothing.
 */
import type { ObjectCaches, TenantChange } from '../../../operator/cluster/object-caches.ts';
import type { TenantOptions } from '../../../operator/cluster/tenant-controllers.ts';
import type { TenantKind, TenantObject } from '../../../operator/cluster/tenant-object.ts';

type Placed = { kind: TenantKind; object: TenantObject };

export function createFakeCluster(placed: readonly Placed[]) {
  const objects = new Map(placed.map((each) => [nameOf(each.kind, each.object), each.object]));
  let handler: (kind: TenantKind, change: TenantChange) => void = () => undefined;
  const change = (kind: TenantKind, object: TenantObject) => {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const previous = objects.get(`${kind} ${key}`);
    if (previous === undefined) throw new Error(`there is no ${kind} ${key}`);
    objects.set(`${kind} ${key}`, object);
    handler(kind, { kind: 'updated', key, object, previous });
  };
  const caches = {
    get: (kind: TenantKind, key: string) => objects.get(`${kind} ${key}`),
    keys: (kind: TenantKind) =>
      placed.filter((each) => each.kind === kind).map(({ object }) => keyOf(object)),
    subscribe: (subscriber: typeof handler) => {
      handler = subscriber;
      for (const { kind, object } of placed) {
        subscriber(kind, { kind: 'added', key: keyOf(object), object, previous: undefined });
      }
    },
    findNow: async (kind: TenantKind, place: { namespace: string; name: string }) =>
      objects.get(`${kind} ${place.namespace}/${place.name}`),
    watches: () => true,
    isListed: () => true,
    synced: Promise.resolve(),
    health: () => [{ isSynced: true, isStale: false, silent_ms: 0 }],
  };
  const client = {
    applyStatus: async ({ kind }: { kind: TenantKind }, { metadata, status }: TenantObject) => {
      const before = objects.get(nameOf(kind, { metadata }));
      const after = { ...before, metadata: before?.metadata ?? metadata, status };
      change(kind, after as TenantObject);
      return { ok: true, value: after };
    },
    merge: async () => ({ ok: true, value: {} }),
  };
  return {
    caches: caches as unknown as ObjectCaches,
    client: client as unknown as TenantOptions['context']['client'],
    find: (kind: TenantKind, key: string) => objects.get(`${kind} ${key}`),
    change,
  };
}

function nameOf(kind: TenantKind, object: Pick<TenantObject, 'metadata'>): string {
  return `${kind} ${keyOf(object)}`;
}

function keyOf({ metadata }: Pick<TenantObject, 'metadata'>): string {
  return `${metadata.namespace}/${metadata.name}`;
}
