/**
 * The contents of the delivery namespace: the ImageService, and all routes, whose names say which project each is for.
 * The caches run whether or not this process leads.
 */
import { isDeepStrictEqual } from 'node:util';
import { listObjects } from '../installation/list-objects.ts';
import { type ImageServiceObject, imageServices } from '../installation/live-types.ts';
import type { CacheHealth } from '../kube/cache-health.ts';
import { keyOf } from '../kube/resource.ts';
import type { Change } from '../kube/stored-objects.ts';
import { syncedInTime } from '../kube/synced-in-time.ts';
import { openWatchCache, type WatchCache, type WatchCacheOptions } from '../kube/watch-cache.ts';
import { deliveryName, type EdgeFound, findEdge, gatewayOf, type RouteMode } from './edge.ts';
import { admissionOf, type KnownRoute, type LiveRoute, routeTypes } from './live-route.ts';
import { slugOf } from './render.ts';

export type EdgeCaches = {
  find(): EdgeFound;
  /** Asks the API server, as the caches may be behind. */
  findNow(): Promise<EdgeFound>;
  /** The slugs of the projects with routes of their own. */
  slugs(): IterableIterator<string>;
  /** All routes that are named for the project, whoever made them. */
  routesOf(slug: string): KnownRoute[];
  /** The route of all default hosts. */
  wildcard(found: EdgeFound): KnownRoute | undefined;
  /** Called with the project whose route changed, or without one if every route may be affected. */
  subscribe(handler: (slug?: string) => void): void;
  /**
   * Resolves once everything has been listed, or after a while if a kind of routes cannot be
   * listed.
   */
  synced: Promise<unknown>;
  health(): CacheHealth[];
  stop(): Promise<void>;
};

type Options = Omit<WatchCacheOptions<LiveRoute>, 'type' | 'selection'> & { namespace: string };

type State = Options & {
  services: WatchCache<ImageServiceObject>;
  caches: Record<RouteMode, WatchCache<LiveRoute>>;
  /** By slug, then by kind and name. */
  index: Map<string, Map<string, KnownRoute>>;
  tell(slug?: string): void;
};

export function openEdgeCaches(options: Options): EdgeCaches {
  const handlers: ((slug?: string) => void)[] = [];
  const { namespace } = options;
  const state: State = {
    ...options,
    services: openWatchCache({ ...options, type: imageServices, selection: { namespace } }),
    caches: { Ingress: openRoutes(options, 'Ingress'), Gateway: openRoutes(options, 'Gateway') },
    index: new Map(),
    tell: (slug) => {
      for (const handler of handlers) handler(slug);
    },
  };
  state.services.subscribe((change) => {
    if (!isOfStatus(change)) state.tell();
  });
  for (const mode of ['Ingress', 'Gateway'] as const) watchRoutes(state, mode);
  state.caches.Gateway.onPresence(() => state.tell());
  for (const { synced } of Object.values(state.caches)) void synced.then(() => state.tell());
  const { services, caches, index } = state;
  const routes = [caches.Ingress, caches.Gateway];
  const all = [services, ...routes];
  const stopped = new AbortController();
  const waiting = { clock: options.clock, signal: stopped.signal };
  return {
    find: () => seen(state, findEdge(services.values(), namespace)),
    findNow: async () => seen(state, findEdge(await listServices(state), namespace)),
    slugs: () => index.keys(),
    routesOf: (slug) => [...(index.get(slug)?.values() ?? [])],
    wildcard: (found) => wildcardOf(state, found),
    subscribe: (handler) => void handlers.push(handler),
    synced: Promise.all([services.synced, syncedInTime(routes, waiting)]),
    health: () => all.map((cache) => cache.health()),
    stop: async () => {
      stopped.abort();
      await Promise.all(all.map((cache) => cache.stop()));
    },
  };
}

/**
 * Only after a kind was listed is it known whether somebody else has an object with a route's name.
 */
function seen({ caches, namespace }: State, found: EdgeFound): EdgeFound {
  if (found.state !== 'ready' || caches[found.mode].health().isSynced) return found;
  const { kind } = routeTypes[found.mode];
  const why = `the operator could not list the objects of kind ${kind} in '${namespace}' yet, so routes stay as they are: if it lacks a permission, its log names it`;
  return { state: 'unseen', edge: found.edge, why };
}

/**
 * Whether only the status changed, and in it not the database that the ImageService was let in to.
 */
function isOfStatus({ kind, object, previous }: Change<ImageServiceObject>): boolean {
  if (kind !== 'updated') return false;
  const isSame = object.metadata.generation === previous.metadata.generation;
  return isSame && object.status?.databaseID === previous.status?.databaseID;
}

function openRoutes({ namespace, ...options }: Options, mode: RouteMode): WatchCache<LiveRoute> {
  return openWatchCache({ ...options, type: routeTypes[mode], selection: { namespace } });
}

function watchRoutes(state: State, mode: RouteMode): void {
  state.caches[mode].subscribe((change) => {
    const { object, previous, key } = change;
    const [before, now] = [previous, object].map((each) => each && slugOf(each));
    if (before !== undefined) dropFrom(state.index, before, `${mode} ${key}`);
    if (object !== undefined && now !== undefined) {
      const routes = state.index.get(now) ?? new Map<string, KnownRoute>();
      state.index.set(now, routes.set(`${mode} ${key}`, { mode, object }));
    }
    const slug = now ?? before;
    if (slug !== undefined) state.tell(slug);
    else if (concernsAll(state, mode, change)) state.tell();
  });
}

/** Whether the route of all default hosts began or ceased to be served. */
function concernsAll(
  { services, namespace }: State,
  mode: RouteMode,
  { object, previous }: Change<LiveRoute>,
): boolean {
  const found = findEdge(services.values(), namespace);
  if (found.state !== 'ready' || found.mode !== mode) return false;
  if ((object ?? previous)?.metadata.name !== deliveryName(found.edge)) return false;
  const [before, now] = [previous, object].map(
    (each) => each && admissionOf({ mode, object: each }, gatewayOf(found.edge)),
  );
  return !isDeepStrictEqual(before, now);
}

function dropFrom(index: State['index'], slug: string, key: string): void {
  const routes = index.get(slug);
  routes?.delete(key);
  if (routes?.size === 0) index.delete(slug);
}

function wildcardOf({ caches, namespace }: State, found: EdgeFound): KnownRoute | undefined {
  if (found.state !== 'ready') return undefined;
  const { mode, edge } = found;
  const object = caches[mode].get(keyOf({ namespace, name: deliveryName(edge) }));
  return object && { mode, object };
}

/** Empty if the cluster no longer knows the type. */
async function listServices({ client, namespace }: State): Promise<ImageServiceObject[]> {
  return (await listObjects(client, imageServices, { namespace })) ?? [];
}
