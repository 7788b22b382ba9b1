/**
 * The controllers of the tenant kinds, one queue per kind, for as long as this process leads. Changed resources come
 * before those due for a resync. A pass that changed rows queues the resources that refer to them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../../runtime/platform/log.ts';
import type { FencedTerm } from '../fenced-term.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { keyOf } from '../kube/resource.ts';
import { type Pass, runWorkers } from '../kube/run-workers.ts';
import { ended, type TimedClock } from '../kube/timed-clock.ts';
import { CONCURRENCY, createWorkQueue, type WorkQueue } from '../kube/work-queue.ts';
import { countHeld } from './count-held.ts';
import { createDatabaseGate, type DatabaseGate } from './database-gate.ts';
import { createDeparted, type Departed } from './departed.ts';
import { createDependants } from './dependants.ts';
import { asksTheSame } from './directives.ts';
import { followRows, lookAtAll } from './follow-rows.ts';
import { createLostNotes, type LostNotes, lostNames, type Update } from './lost-notes.ts';
import type { ObjectCaches, TenantChange } from './object-caches.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import { createRefused, type Refused, wakeRefused } from './refused.ts';
import { sweepOrphans } from './sweep-orphans.ts';
import { isGoing, isHeld, type TenantKind, tenantKindOf, tenantTypes } from './tenant-object.ts';
import { runPass, wake } from './tenant-pass.ts';
import { createToldStatuses, type ToldStatuses } from './told-statuses.ts';

export type TenantControllers = {
  /** Works until the term ends; resolves once all work has stopped. */
  lead(term: FencedTerm): Promise<void>;
  /** Queues every Project: something changed that their status reports. */
  lookAgain(): void;
};

export type TenantOptions = {
  caches: ObjectCaches;
  context: Omit<
    ObjectContext,
    'db' | 'findObject' | 'findObjectNow' | 'watches' | 'metrics' | 'delivery_root_domain'
  > & {
    /** The domain that projects have their default hosts under, as currently known. */
    findRootDomain(): string | undefined;
  };
  clock: TimedClock;
  log: Log;
  metrics: KubeMetrics;
  /** The namespaces whose resources this operator owns; empty: all. */
  namespaces: readonly string[];
  random?: () => number;
  /** How often a resource that is as declared is compared again. */
  resync_ms?: number;
  /** How often the ConfigMap or Secret of an image is read again, as neither is watched. */
  source_ms?: number;
  /**
   * When to retry a resource that waits for a file or for somebody's decision, or that was refused
   * for the first time.
   */
  retry_ms?: number;
  /** How often to ask the database which rows others changed. */
  poll_ms?: number;
};

/** The database reports changes of rows; the resync finds those that bypass the reporting. */
export const RESYNC_MS = 30 * 60_000;
const SOURCE_MS = 60_000;
const RETRY_MS = 10_000;
const POLL_MS = 2_000;

export type TenantState = Omit<Required<TenantOptions>, 'context'> & {
  context: TenantOptions['context'] &
    Pick<ObjectContext, 'findObject' | 'findObjectNow' | 'watches' | 'metrics'> & {
      told: ToldStatuses;
      lost_notes: LostNotes;
    };
  gate: DatabaseGate;
  dependants: ReturnType<typeof createDependants>;
  /** Empty while another process leads. */
  queues: ReadonlyMap<TenantKind, WorkQueue>;
  departed: Departed;
  refused: Refused;
  /** When the rows of a resource were last as declared, by the clock's elapsed time. */
  synced_at: Map<string, number>;
};

export function createTenantControllers(options: TenantOptions): TenantControllers {
  const { metrics } = options;
  const findObject: ObjectContext['findObject'] = (name, place) => {
    const kind = tenantKindOf(name);
    return kind && options.caches.get(kind, keyOf(place));
  };
  const state: TenantState = {
    random: Math.random,
    resync_ms: RESYNC_MS,
    source_ms: SOURCE_MS,
    retry_ms: RETRY_MS,
    poll_ms: POLL_MS,
    ...options,
    context: {
      ...{ ...options.context, metrics, findObject },
      findObjectNow: options.caches.findNow,
      watches: options.caches.watches,
      ...{ told: createToldStatuses(), lost_notes: createLostNotes() },
    },
    gate: createDatabaseGate(options.clock),
    dependants: createDependants(),
    queues: new Map(),
    departed: createDeparted(),
    refused: createRefused(),
    synced_at: new Map(),
  };
  options.caches.subscribe((kind, change) => take(state, kind, change));
  metrics.watchHeld(() => countHeld(options.caches));
  return {
    lead: (term) => lead(state, term),
    lookAgain: () => {
      for (const key of state.caches.keys('Project'))
        state.queues.get('Project')?.add(key, 'resync');
      wakeRefused(state, 'Project');
    },
  };
}

function take(state: TenantState, kind: TenantKind, change: TenantChange): void {
  state.dependants.take(kind, change);
  const queue = state.queues.get(kind);
  const { told, lost_notes } = state.context;
  lost_notes.take(change);
  if (queue === undefined) return;
  if (isOurOwn(change)) {
    if (isForeignStatus(change, told)) queue.add(change.key, 'resync');
    return;
  }
  if (change.kind === 'deleted') {
    told.forget(change.previous);
    state.departed.add(kind, change.key, change.previous);
    state.synced_at.delete(`${kind} ${change.key}`);
  }
  queue.add(change.key, 'change');
  // A resource being deleted counts as gone: a project names another default before its preset can
  // go.
  if (isLeaving(change)) wake(state, { kind, object: change.object });
}

function isLeaving(change: TenantChange): change is TenantChange & { kind: 'updated' } {
  return change.kind === 'updated' && isGoing(change.object) && !isGoing(change.previous);
}

/**
 * The spec, the directives and the operator's own marks are unchanged: the update is to a status or
 * a label, mostly our own.
 */
function isOurOwn(change: TenantChange): change is TenantChange & { kind: 'updated' } {
  if (change.kind !== 'updated') return false;
  const { object, previous } = change;
  const isSame = object.metadata.generation === previous.metadata.generation;
  const isAskedTheSame = asksTheSame(object, previous);
  const isUntouched = isSame && isAskedTheSame && isGoing(object) === isGoing(previous);
  return isUntouched && !isStripped(change);
}

/**
 * Somebody replaced the resource with a manifest that lacks the operator's marks: they are restored
 * at once.
 */
function isStripped({ object, previous }: Update): boolean {
  if (isGoing(object)) return false;
  return (isHeld(previous) && !isHeld(object)) || lostNames({ object, previous }).length > 0;
}

/**
 * Only a status that this update changed counts: an update from before our last write may still
 * arrive.
 */
function isForeignStatus(
  { object, previous }: TenantChange & { kind: 'updated' },
  told: ToldStatuses,
): boolean {
  return !told.isTold(object) && !isDeepStrictEqual(object.status, previous.status);
}

async function lead(state: TenantState, term: FencedTerm): Promise<void> {
  await Promise.race([state.caches.synced, ended(term.signal)]);
  if (term.signal.aborted) return;
  const queues = tenantTypes.map(({ kind }) => {
    return [kind, createWorkQueue({ ...state, name: kind })] as const;
  });
  state.queues = new Map(queues);
  lookAtAll(state);
  const workers = queues.map(([kind, queue]) => {
    const reconcile = (pass: Pass) => runPass(state, { kind, pass, term });
    return runWorkers({ ...state, controller: kind, queue, reconcile, concurrency: CONCURRENCY });
  });
  await Promise.all([sweepOrphans(state, term), followRows(state, term)]);
  await Promise.all(workers.map((each) => each.stop()));
  state.queues = new Map();
  state.departed.clear();
  state.refused.clear();
  state.synced_at.clear();
  state.context.told.clear();
}
