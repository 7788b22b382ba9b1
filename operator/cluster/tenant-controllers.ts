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
import { createDeletedResources, type DeletedResources } from './deleted-resources.ts';
import { createDependants } from './dependants.ts';
import { hasSameDirectives } from './directives.ts';
import { followRows, requeueAll } from './follow-rows.ts';
import {
  createLostSecretNames,
  findLostNames,
  type LostSecretNames,
  type Update,
} from './lost-secret-names.ts';
import type { ObjectCaches, TenantChange } from './object-caches.ts';
import type { ObjectContext } from './reconcile-rows.ts';
import {
  createRefusedResources,
  type RefusedResources,
  requeueRefused,
} from './refused-resources.ts';
import { sweepOrphans } from './sweep-orphans.ts';
import {
  hasFinalizer,
  isBeingDeleted,
  type TenantKind,
  tenantKindOf,
  tenantTypes,
} from './tenant-object.ts';
import { queueDependants, runPass } from './tenant-pass.ts';
import { createWrittenStatuses, type WrittenStatuses } from './written-statuses.ts';

export type TenantControllers = {
  /** Works until the term ends; resolves once all work has stopped. */
  lead(term: FencedTerm): Promise<void>;
  /** Queues every Project: something changed that their status reports. */
  requeueProjects(): void;
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
      writtenStatuses: WrittenStatuses;
      lost_secret_names: LostSecretNames;
    };
  gate: DatabaseGate;
  dependants: ReturnType<typeof createDependants>;
  /** Empty while another process leads. */
  queues: ReadonlyMap<TenantKind, WorkQueue>;
  deleted: DeletedResources;
  refused: RefusedResources;
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
      ...{ writtenStatuses: createWrittenStatuses(), lost_secret_names: createLostSecretNames() },
    },
    gate: createDatabaseGate(options.clock),
    dependants: createDependants(),
    queues: new Map(),
    deleted: createDeletedResources(),
    refused: createRefusedResources(),
    synced_at: new Map(),
  };
  options.caches.subscribe((kind, change) => handleChange(state, kind, change));
  metrics.watchHeld(() => countHeld(options.caches));
  return {
    lead: (term) => lead(state, term),
    requeueProjects: () => {
      for (const key of state.caches.keys('Project'))
        state.queues.get('Project')?.add(key, 'resync');
      requeueRefused(state, 'Project');
    },
  };
}

function handleChange(state: TenantState, kind: TenantKind, change: TenantChange): void {
  state.dependants.handleChange(kind, change);
  const queue = state.queues.get(kind);
  const { writtenStatuses, lost_secret_names } = state.context;
  lost_secret_names.handleChange(change);
  if (queue === undefined) return;
  if (isOwnUpdate(change)) {
    if (isForeignStatus(change, writtenStatuses)) queue.add(change.key, 'resync');
    return;
  }
  if (change.kind === 'deleted') {
    writtenStatuses.forget(change.previous);
    state.deleted.add(kind, change.key, change.previous);
    state.synced_at.delete(`${kind} ${change.key}`);
  }
  queue.add(change.key, 'change');
  // A resource being deleted counts as gone: a project names another default before its preset can
  // go.
  if (hasDeletionStarted(change)) queueDependants(state, { kind, object: change.object });
}

function hasDeletionStarted(change: TenantChange): change is TenantChange & { kind: 'updated' } {
  return (
    change.kind === 'updated' && isBeingDeleted(change.object) && !isBeingDeleted(change.previous)
  );
}

/**
 * The spec, the directives and the operator's own marks are unchanged: the update is to a status or
 * a label, mostly our own.
 */
function isOwnUpdate(change: TenantChange): change is TenantChange & { kind: 'updated' } {
  if (change.kind !== 'updated') return false;
  const { object, previous } = change;
  const isSame = object.metadata.generation === previous.metadata.generation;
  const isAskedTheSame = hasSameDirectives(object, previous);
  const isUntouched =
    isSame && isAskedTheSame && isBeingDeleted(object) === isBeingDeleted(previous);
  return isUntouched && !hasLostMarks(change);
}

/**
 * Somebody replaced the resource with a manifest that lacks the operator's marks: they are restored
 * at once.
 */
function hasLostMarks({ object, previous }: Update): boolean {
  if (isBeingDeleted(object)) return false;
  return (
    (hasFinalizer(previous) && !hasFinalizer(object)) ||
    findLostNames({ object, previous }).length > 0
  );
}

/**
 * Only a status that this update changed counts: an update from before our last write may still
 * arrive.
 */
function isForeignStatus(
  { object, previous }: TenantChange & { kind: 'updated' },
  writtenStatuses: WrittenStatuses,
): boolean {
  return (
    !writtenStatuses.isLastWritten(object) && !isDeepStrictEqual(object.status, previous.status)
  );
}

async function lead(state: TenantState, term: FencedTerm): Promise<void> {
  await Promise.race([state.caches.synced, ended(term.signal)]);
  if (term.signal.aborted) return;
  const queues = tenantTypes.map(({ kind }) => {
    return [kind, createWorkQueue({ ...state, name: kind })] as const;
  });
  state.queues = new Map(queues);
  requeueAll(state);
  const workers = queues.map(([kind, queue]) => {
    const reconcile = (pass: Pass) => runPass(state, { kind, pass, term });
    return runWorkers({ ...state, controller: kind, queue, reconcile, concurrency: CONCURRENCY });
  });
  await Promise.all([sweepOrphans(state, term), followRows(state, term)]);
  await Promise.all(workers.map((each) => each.stop()));
  state.queues = new Map();
  state.deleted.clear();
  state.refused.clear();
  state.synced_at.clear();
  state.context.writtenStatuses.clear();
}
