/** The watch caches of the tenant kinds, of all namespaces or of those that are named. They run whoever leads. */
import type { CacheHealth } from '../kube/cache-health.ts';
import { unwrap } from '../kube/kube-failure.ts';
import type { ChangeHandler } from '../kube/listeners.ts';
import { sleep } from '../kube/timed-clock.ts';
import { openWatchCache, type WatchCacheOptions } from '../kube/watch-cache.ts';
import { type TenantKind, type TenantObject, tenantTypes, typeOf } from './tenant-object.ts';

export type ObjectCaches = {
  /** Whether resources of this namespace are this operator's. */
  watches(namespace: string): boolean;
  /** Whether all that is declared in it has been seen: before that nothing may be decided there. */
  isListed(namespace: string): boolean;
  get(kind: TenantKind, key: string): TenantObject | undefined;
  values(kind: TenantKind): IterableIterator<TenantObject>;
  keys(kind: TenantKind): string[];
  /**
   * By the word of the API server, where this operator may look: a watch that is open and behind has not heard of what
   * is new, so that nothing is done for the sake of what is missing before it was asked for.
   */
  findNow(kind: TenantKind, place: TenantPlace): Promise<TenantObject | undefined>;
  subscribe(handler: (kind: TenantKind, change: TenantChange) => void): void;
  /**
   * Resolves when all have been listed once, or a while has passed: a namespace that is gone, with the Role in it, may
   * not stop the others.
   */
  synced: Promise<unknown>;
  /** Of what is watched in a namespace, or of all. */
  health(namespace?: string): CacheHealth[];
  stop(): Promise<void>;
};

export type TenantPlace = { namespace: string; name: string };

export type TenantChange = Parameters<ChangeHandler<TenantObject>>[0];

type CachesOptions = Omit<WatchCacheOptions<TenantObject>, 'type' | 'selection'> & {
  /** None: all. */
  namespaces: readonly string[];
};

const SYNC_MS_MAX = 30_000;

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
    keys: (kind) =>
      [...values(kind)].map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    findNow: async (kind, { namespace, name }) => {
      if (!watches(namespace)) return undefined;
      // By a list, which whoever watches may ask for; without a version it tells the newest state.
      const query = { namespace, fields: `metadata.name=${name}`, limit: 0 };
      return unwrap(await options.client.listPage(typeOf(kind), query)).items[0];
    },
    subscribe: (handler) => {
      for (const { kind, cache } of caches) cache.subscribe((change) => handler(kind, change));
    },
    synced: Promise.race([
      Promise.all(caches.map(({ cache }) => cache.synced)),
      sleep(options.clock, SYNC_MS_MAX, stopped.signal),
    ]),
    health,
    stop: async () => {
      stopped.abort();
      await Promise.all(caches.map(({ cache }) => cache.stop()));
    },
  };
}
