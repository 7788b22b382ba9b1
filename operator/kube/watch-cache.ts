/**
 * All objects of a type in their current state, kept by one watch. It lists, watches, and starts again after any
 * failure until it is stopped. Handlers only receive the keys to examine.
 */
import type { Log } from '../../runtime/platform/log.ts';
import { type CacheHealth, healthOf } from './cache-health.ts';
import type { KubeClient } from './client.ts';
import { isUnanswered, KubeFailure } from './kube-failure.ts';
import { createListPages, type ListPages } from './list-pages.ts';
import { type ChangeHandler, createListeners, type Listeners } from './listeners.ts';
import type { KubeMetrics } from './metrics.ts';
import { createPauses, type Pauses } from './pause.ts';
import { createPresence, type Presence } from './presence.ts';
import type { KubeObject, ResourceType, Selection } from './resource.ts';
import { createStoredObjects, isNewer, type StoredObjects } from './stored-objects.ts';
import { sleep, type TimedClock } from './timed-clock.ts';
import type { WatchEvent } from './watch-stream.ts';

export type WatchCache<T extends KubeObject> = {
  get(key: string): T | undefined;
  values(): IterableIterator<T>;
  /**
   * Calls the handler for every later change, and for what is present already. It must only
   * enqueue.
   */
  subscribe(handler: ChangeHandler<T>): void;
  /**
   * Calls the handler whenever an optional type is installed or removed from now on. It must only
   * enqueue.
   */
  onPresence(handler: () => void): void;
  /** Resolves once everything has been listed. */
  synced: Promise<void>;
  health(): CacheHealth;
  stop(): Promise<void>;
};

export type WatchCacheOptions<T extends KubeObject> = {
  client: KubeClient;
  type: ResourceType<T>;
  selection?: Selection;
  clock: TimedClock;
  log: Log;
  metrics: KubeMetrics;
  random?: () => number;
};

const WATCH_SECONDS = { least: 240, more: 60 };
/** How often everything is listed and compared, in case a change was ever lost. */
const RELIST_MS = 30 * 60_000;
/** How often to look for an optional type that the cluster lacks. */
const ABSENT_MS = 10_000;
const PAUSE_MS = { least_ms: 100, most_ms: 30_000 };
/** A watch that lasted this long, or delivered any event, did not fail at once. */
const HEALTHY_MS = 5_000;
const FAILURES_BEFORE_RELIST = 3;

type State<T extends KubeObject> = WatchCacheOptions<T> & {
  objects: StoredObjects<T>;
  listeners: Listeners<T>;
  random: () => number;
  pauses: Pauses;
  signal: AbortSignal;
  /** Where the next watch continues; undefined: everything must be listed. */
  version: string | undefined;
  listed_at: number;
  /** When the API server last gave a sign of life. */
  seen_at: number;
  heard_at: number;
  /** Consecutive watches that failed without delivering an event. */
  failures: number;
  list: ListPages<T>;
  isSynced: boolean;
  presence: Presence;
};

export function openWatchCache<T extends KubeObject>(options: WatchCacheOptions<T>): WatchCache<T> {
  const stopped = new AbortController();
  const state = createState(options, stopped.signal);
  const { promise: synced, resolve } = Promise.withResolvers<void>();
  const running = run(state, resolve);
  return {
    get: (key) => state.objects.get(key),
    values: () => state.objects.values(),
    subscribe: (handler) => state.listeners.add(handler, state.objects.values()),
    onPresence: state.presence.onChange,
    synced,
    health: () => healthOf(state),
    stop: async () => {
      stopped.abort();
      await running;
      state.metrics.forgetCache(state);
    },
  };
}

function createState<T extends KubeObject>(
  options: WatchCacheOptions<T>,
  signal: AbortSignal,
): State<T> {
  const { random = Math.random, clock } = options;
  return {
    ...options,
    objects: createStoredObjects<T>(),
    listeners: createListeners({ log: options.log, kind: options.type.kind, clock, signal }),
    random,
    pauses: createPauses({ ...PAUSE_MS, random }),
    signal,
    version: undefined,
    listed_at: clock.elapsed(),
    seen_at: clock.elapsed(),
    heard_at: clock.elapsed(),
    failures: 0,
    list: createListPages({ ...options, signal }),
    isSynced: false,
    presence: createPresence(),
  };
}

async function run<T extends KubeObject>(state: State<T>, synced: () => void): Promise<void> {
  const { signal, clock } = state;
  while (!signal.aborted) {
    const failure = state.version === undefined ? await listAll(state) : await watchOnce(state);
    const isAbsent = failure?.reason === 'NotFound' && state.type.presence === 'optional';
    if (isAbsent) holdNothing(state);
    if (state.isSynced) synced();
    if (failure === undefined || signal.aborted) continue;
    if (!isUnanswered(failure)) state.heard_at = clock.elapsed();
    const wait = isAbsent ? ABSENT_MS : state.pauses.next(failure.retry_after_ms);
    if (!isAbsent) report(state, failure, wait);
    await sleep(clock, wait, signal);
  }
}

function report<T extends KubeObject>({ log, type }: State<T>, failure: KubeFailure, wait: number) {
  // It is normal that the server forgets old versions.
  const at = failure.reason === 'Gone' ? 'debug' : 'warn';
  log[at]('a watch failed and restarts', {
    kind: type.kind,
    reason: failure.reason,
    error: failure,
    duration_ms: Math.round(wait),
  });
}

async function listAll<T extends KubeObject>(state: State<T>): Promise<KubeFailure | undefined> {
  state.metrics.relist(state.type.kind);
  const answer = await state.list();
  if (!answer.ok) return answer.failure;
  const { items, resource_version } = answer.value;
  state.version = resource_version;
  state.listed_at = state.clock.elapsed();
  state.failures = 0;
  hold(state, items);
  state.presence.note(true);
  return undefined;
}

/** `items` are all that exist now. */
function hold<T extends KubeObject>(state: State<T>, items: readonly T[]): void {
  const changes = state.objects.replaceAll(items);
  state.isSynced = true;
  markSeen(state);
  for (const change of changes) state.listeners.notify(change);
}

/** The cluster lacks the type, or no longer has it: it is looked for again later. */
function holdNothing<T extends KubeObject>(state: State<T>): void {
  state.version = undefined;
  state.pauses.reset();
  hold(state, []);
  state.presence.note(false);
}

async function watchOnce<T extends KubeObject>(state: State<T>): Promise<KubeFailure | undefined> {
  const began = state.clock.elapsed();
  const { failure, events } = await follow(state);
  const lived = state.clock.elapsed() - began;
  const isHealthy = events > 0 || lived > HEALTHY_MS;
  if (isHealthy) state.pauses.reset();
  state.failures = isHealthy ? 0 : state.failures + 1;
  const isLost = failure?.reason === 'Gone' || state.failures >= FAILURES_BEFORE_RELIST;
  if (isLost || state.clock.elapsed() - state.listed_at > RELIST_MS) state.version = undefined;
  if (failure !== undefined) return failure;
  // A server that ends every watch at once must not be asked in a tight loop.
  return isHealthy ? undefined : new KubeFailure({ reason: 'Refused', message: 'ended at once' });
}

function follow<T extends KubeObject>(
  state: State<T>,
): Promise<{ failure: KubeFailure | undefined; events: number }> {
  const { client, type, selection, metrics, random, signal, version = '' } = state;
  metrics.reconnect(type.kind);
  let events = 0;
  return new Promise((resolve) => {
    const timeout_seconds = WATCH_SECONDS.least + Math.round(random() * WATCH_SECONDS.more);
    const request = { ...selection, resource_version: version, timeout_seconds };
    const watch = client.watch(type, request, {
      opened: () => markSeen(state),
      event: (event) => {
        events += 1;
        handleEvent(state, event);
      },
      ended: (failure) => {
        signal.removeEventListener('abort', watch.stop);
        resolve({ failure, events });
      },
    });
    signal.addEventListener('abort', watch.stop, { once: true });
    if (signal.aborted) watch.stop();
  });
}

function handleEvent<T extends KubeObject>(state: State<T>, event: WatchEvent<T>): void {
  if (event.kind === 'bookmark') {
    advance(state, event.resource_version);
    markSeen(state);
    return;
  }
  const { objects } = state;
  const change =
    event.kind === 'deleted' ? objects.remove(event.object) : objects.put(event.object);
  markSeen(state);
  advance(state, event.object.metadata.resourceVersion);
  if (change !== undefined) state.listeners.notify(change);
}

/** A repeated event has an older version than those before it. */
function advance<T extends KubeObject>(state: State<T>, version: string): void {
  if (state.version === undefined || isNewer(version, state.version)) state.version = version;
}

function markSeen<T extends KubeObject>(state: State<T>): void {
  const { clock, metrics, type, objects } = state;
  state.seen_at = clock.elapsed();
  state.heard_at = state.seen_at;
  metrics.recordCache(state, { kind: type.kind, at: clock.now(), objects: objects.size() });
}
