/**
 * The controllers of the tenant kinds, one queue a kind, for as long as this process leads. What changed goes before
 * what is only looked at again; a pass that changed rows wakes what refers to them.
 */
import type { Log } from '../../runtime/platform/log.ts';
import { KubeFailure } from '../kube/kube-failure.ts';
import type { Term } from '../kube/lease.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { type Pass, runWorkers } from '../kube/run-workers.ts';
import type { TimedClock } from '../kube/timed-clock.ts';
import { CONCURRENCY, createWorkQueue, type Outcome, type WorkQueue } from '../kube/work-queue.ts';
import { createDependants } from './dependants.ts';
import type { ObjectCaches, TenantChange } from './object-caches.ts';
import { type ObjectContext, reconcileObject } from './reconcile-object.ts';
import { isGoing, type TenantKind, type TenantObject, tenantTypes } from './tenant-object.ts';

export type TenantControllers = {
  /** Works until the term is over; resolves when nothing is being done any more. */
  lead(term: Term): Promise<void>;
};

export type TenantOptions = {
  caches: ObjectCaches;
  context: Omit<ObjectContext, 'findObject'>;
  clock: TimedClock;
  log: Log;
  metrics: KubeMetrics;
  random?: () => number;
  /** When what is as it should be is compared again. */
  resync_ms?: number;
  /** When what waits for a file, or for somebody's decision, is looked at again. */
  retry_ms?: number;
};

const RESYNC_MS = 10 * 60_000;
const RETRY_MS = 10_000;
const RESYNC_JITTER = 0.2;
/** Somebody wrote it since the cache saw it: the next state is on its way. */
const CONFLICT_MS = 100;

type State = Required<TenantOptions> & {
  context: ObjectContext;
  dependants: ReturnType<typeof createDependants>;
  /** Nobody listens to it while others lead. */
  queues: ReadonlyMap<TenantKind, WorkQueue>;
  /** Deleted before it had a finalizer, or without it: its rows are let go of all the same. */
  departed: Map<string, TenantObject>;
};

export function createTenantControllers(options: TenantOptions): TenantControllers {
  const state: State = {
    random: Math.random,
    resync_ms: RESYNC_MS,
    retry_ms: RETRY_MS,
    ...options,
    context: { ...options.context, findObject: (kind, place) => findPresent(options, kind, place) },
    dependants: createDependants(),
    queues: new Map(),
    departed: new Map(),
  };
  options.caches.subscribe((kind, change) => take(state, kind, change));
  return { lead: (term) => lead(state, term) };
}

function findPresent(
  { caches }: TenantOptions,
  kind: string,
  { namespace, name }: { namespace: string; name: string },
): TenantObject | undefined {
  const type = tenantTypes.find((each) => each.kind === kind);
  const object = type && caches.get(type.kind, `${namespace}/${name}`);
  // What is going counts as gone, as others could never let go of it otherwise.
  return object && !isGoing(object) ? object : undefined;
}

function take(state: State, kind: TenantKind, change: TenantChange): void {
  state.dependants.take(kind, change);
  const queue = state.queues.get(kind);
  if (queue === undefined || isOurOwn(change)) return;
  if (change.kind === 'deleted') state.departed.set(`${kind} ${change.key}`, change.previous);
  queue.add(change.key, 'change');
}

/** Nothing that is declared changed: a status, a finalizer or a label, mostly of our own writing. */
function isOurOwn({ kind, object, previous }: TenantChange): boolean {
  if (kind !== 'updated') return false;
  const isSame = object.metadata.generation === previous.metadata.generation;
  return isSame && isGoing(object) === isGoing(previous);
}

async function lead(state: State, term: Term): Promise<void> {
  await Promise.race([state.caches.synced, ended(term.signal)]);
  if (term.signal.aborted) return;
  const queues = tenantTypes.map(({ kind }) => {
    return [kind, createWorkQueue({ ...state, name: kind })] as const;
  });
  state.queues = new Map(queues);
  for (const [kind, queue] of queues) {
    for (const key of state.caches.keys(kind)) queue.add(key, 'resync');
  }
  const workers = queues.map(([kind, queue]) => {
    const reconcile = (pass: Pass) => runPass(state, { kind, pass, term });
    return runWorkers({ ...state, controller: kind, queue, reconcile, concurrency: CONCURRENCY });
  });
  await ended(term.signal);
  await Promise.all(workers.map((each) => each.stop()));
  state.queues = new Map();
  state.departed.clear();
}

function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

type Running = { kind: TenantKind; pass: Pass; term: Term };

async function runPass(state: State, { kind, pass, term }: Running): Promise<Outcome> {
  if (!term.isCurrent()) throw new Error('another may lead by now');
  const departed = state.departed.get(`${kind} ${pass.key}`);
  if (departed !== undefined) {
    await letGo(state, kind, departed);
    if (state.departed.get(`${kind} ${pass.key}`) === departed) {
      state.departed.delete(`${kind} ${pass.key}`);
    }
  }
  const object = state.caches.get(kind, pass.key);
  if (object === undefined) return { kind: 'done' };
  try {
    return await runOne(state, kind, object);
  } catch (error) {
    const isStale = error instanceof KubeFailure && error.reason === 'Conflict';
    if (isStale) return { kind: 'again', after_ms: CONFLICT_MS };
    throw error;
  }
}

async function runOne(state: State, kind: TenantKind, object: TenantObject): Promise<Outcome> {
  const { outcome, changes } = await reconcileObject(kind, object, state.context);
  if (changes.length > 0) {
    const { namespace, name } = object.metadata;
    state.log.info('a resource changed its rows', { kind, name: `${namespace}/${name}`, changes });
  }
  if (changes.length > 0 || isGoing(object)) wake(state, kind, object);
  const steady = outcome === 'done' ? state.resync_ms : state.retry_ms;
  return { kind: 'again', after_ms: steady * (1 + (state.random() - 0.5) * RESYNC_JITTER) };
}

/** There is nothing left to write a status or a finalizer to. */
async function letGo(state: State, kind: TenantKind, { metadata, spec }: TenantObject) {
  const { finalizers: _, ...rest } = metadata;
  const deletionTimestamp = metadata.deletionTimestamp ?? state.clock.now().toISOString();
  const object: TenantObject = { metadata: { ...rest, deletionTimestamp }, ...(spec && { spec }) };
  await reconcileObject(kind, object, state.context).catch(ignoreMissing);
  wake(state, kind, object);
}

/** Or a namesake is there by now. */
function ignoreMissing(error: unknown): void {
  const isMissing = error instanceof KubeFailure && /^(NotFound|Conflict)$/.test(error.reason);
  if (!isMissing) throw error;
}

function wake(state: State, kind: TenantKind, object: TenantObject): void {
  for (const each of state.dependants.of(kind, object)) {
    state.queues.get(each.kind)?.add(each.key, 'change');
  }
}
