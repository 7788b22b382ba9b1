/**
 * The watch caches of the tenant kinds, for all namespaces or the named ones. They run whether or not this process
 * leads.
 */
import type { CacheHealth } from '../kube/cache-health.ts';
import { unwrap } from '../kube/kube-failure.ts';
import type { ChangeHandler } from '../kube/listeners.ts';
import { keyOf } from '../kube/resource.ts';
import { syncedInTime } from '../kube/synced-in-time.ts';
import { openWatchCache, type WatchCacheOptions } from '../kube/watch-cache.ts';
import { type TenantKind, type TenantObject, tenantTypes, typeOf } from './tenant-object.ts';

export type ObjectCaches = {
  /** Whether this operator is responsible for the namespace. */
  watches(namespace: string): boolean;
  /**
   * Whether all of the namespace's resources have been listed; until then nothing may be decided
   * there.
   */
  isListed(namespace: string): boolean;
  get(kind: TenantKind, key: string): TenantObject | undefined;
  values(kind: TenantKind): IterableIterator<TenantObject>;
  keys(kind: TenantKind): string[];
  /**
   * Asks the API server, where this operator may read. A watch that lags has not seen new
   * resources, so a pass asks before it acts on something missing.
   */
  findNow(kind: TenantKind, place: TenantPlace): Promise<TenantObject | undefined>;
  subscribe(handler: (kind: TenantKind, change: TenantChange) => void): void;
  /**
   * Resolves when everything has been listed once, or after a while: a namespace that was deleted,
   * along with its Role, must not hold up the others.
   */
  synced: Promise<unknown>;
  /** For the caches of one namespace, or for all. */
  health(namespace?: string): CacheHealth[];
  stop(): Promise<void>;
};

export type TenantPlace = { namespace: string; name: string };

export type TenantChange = Parameters<ChangeHandler<TenantObject>>[0];

type CachesOptions = Omit<WatchCacheOptions<TenantObject>, 'type' | 'selection'> & {
  /** Empty: all namespaces. */
  namespaces: readonly string[];
};

export function openObjectCaches({ namespaces, ...options }: CachesOptions): ObjectCaches {
  const places: readonly (string | undefined)[] =
    namespaces.length === 0 ? [undefined] : [...new Set(namespaces)];
  const caches = tenantTypes.flatMap((type) =>
    places.map((namespace) => {
      const cache = openWatchCache({ ...options, type, selection: { namespace } });
      return { kind: type.kind, place: namespace, cache };
    }),
  );
  const of = (kind: TenantKind) => caches.filter((each) => each.kind === kind);
  function* values(kind: TenantKind) {
    for (const { cache } of of(kind)) yield* cache.values();
  }
  const find = (kind: TenantKind, key: string) => {
    for (const { cache } of of(kind)) {
      const object = cache.get(key);
      if (object !== undefined) return object;
    }
    return undefined;
  };
  const watches = (namespace: string) => places.includes(namespace) || places.includes(undefined);
  const health = (namespace?: string) =>
    caches
      .filter(({ place }) => [namespace, place].includes(undefined) || place === namespace)
      .map(({ cache }) => cache.health());
  const stopped = new AbortController();
  return {
    watches,
    isListed: (namespace) => health(namespace).every(({ isSynced }) => isSynced),
    get: find,
    values,
    keys: (kind) => [...values(kind)].map(({ metadata }) => keyOf(metadata)),
    findNow: async (kind, { namespace, name }) => {
      if (!watches(namespace)) return undefined;
      // Uses a list, which every watcher may request; without a resourceVersion it returns the
      // newest state.
      const query = { namespace, fields: `metadata.name=${name}`, limit: 0 };
      return unwrap(await options.client.listPage(typeOf(kind), query)).items[0];
    },
    subscribe: (handler) => {
      for (const { kind, cache } of caches) cache.subscribe((change) => handler(kind, change));
    },
    synced: syncedInTime(
      caches.map(({ cache }) => cache),
      { clock: options.clock, signal: stopped.signal },
    ),
    health,
    stop: async () => {
      stopped.abort();
      await Promise.all(caches.map(({ cache }) => cache.stop()));
    },
  };
}
