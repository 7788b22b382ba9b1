/**
 * One pass over one key: the deleted resource, the existing one, and when to run again. If the database is down, or its
 * schema is not at this version yet, a condition reports it and the pass is retried later, never in a tight loop.
 */
import { ServiceError } from '../../runtime/core/errors.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import { hasTintypeSchema } from '../../runtime/db/schema-presence.ts';
import type { FencedTerm } from '../fenced-term.ts';
import { API_VERSION } from '../kinds.ts';
import { isNotFoundOrConflict, KubeFailure } from '../kube/kube-failure.ts';
import { NotLeading } from '../kube/leader-client.ts';
import { findCondition } from '../kube/live-condition.ts';
import { type KubeObject, keyOf, parseKey } from '../kube/resource.ts';
import type { Pass } from '../kube/run-workers.ts';
import { type Outcome, spread } from '../kube/work-queue.ts';
import { hasUndone, printDifference, UNDONE } from '../row-difference.ts';
import { type DatabaseProblem, databaseProblemOf } from './database-gate.ts';
import { directiveOf, ignoredAnnotations } from './directives.ts';
import { writeFinalizer } from './finalizer.ts';
import { type ObjectResult, reconcileObject } from './reconcile-object.ts';
import type { ObjectContext, RowsChanged } from './reconcile-rows.ts';
import { canUnblockOthers, requeueRefused } from './refused-resources.ts';
import { reportFailure, reportUnavailable, type TenantResource } from './report-failure.ts';
import type { TenantState } from './tenant-controllers.ts';
import {
  hasFinalizer,
  isBeingDeleted,
  type TenantKind,
  type TenantObject,
} from './tenant-object.ts';

/** The cache was outdated: the newer state is on its way. */
const CONFLICT_MS = 100;

type Running = { kind: TenantKind; pass: Pass; term: FencedTerm };
type Waiting = {
  kind: TenantKind;
  object: TenantObject | undefined;
  problem: DatabaseProblem;
  context: ObjectContext;
};

export async function runPass(state: TenantState, running: Running): Promise<Outcome> {
  if (!running.term.isCurrent()) throw new NotLeading();
  const { namespace = '' } = parseKey(running.pass.key);
  if (!state.caches.isListed(namespace)) return { kind: 'requeue', after_ms: state.retry_ms };
  try {
    return await reconcileKey(state, running);
  } catch (error) {
    const isStale = error instanceof KubeFailure && error.reason === 'Conflict';
    if (isStale) return { kind: 'requeue', after_ms: CONFLICT_MS };
    throw error;
  }
}

async function reconcileKey(state: TenantState, { kind, pass, term }: Running): Promise<Outcome> {
  const delivery_root_domain = state.context.findRootDomain();
  const context = { ...state.context, delivery_root_domain, db: term.db };
  const object = state.caches.get(kind, pass.key);
  const closed_ms = state.gate.closed_ms();
  if (closed_ms > 0) {
    return wait(state, { kind, object, context, problem: state.gate.problem() }, closed_ms);
  }
  try {
    await releaseDeleted(state, { kind, key: pass.key }, context);
    const outcome = object && (await reconcileExisting(state, { kind, object }, context));
    state.gate.answered();
    return outcome ?? { kind: 'done' };
  } catch (error) {
    const problem = databaseProblemOf(error);
    if (object !== undefined && (await isOwnTimeout(error, context.db))) {
      await reportUnavailable(state, { kind, object, problem: 'DatabaseUnavailable' });
      throw error;
    }
    if (problem === undefined) {
      if (object !== undefined) await reportFailure(state, { kind, object, error });
      throw error;
    }
    state.gate.failed(problem);
    state.log.warn('the database is unavailable', { kind, name: pass.key, error });
    const pause_ms = Math.max(state.gate.closed_ms(), CONFLICT_MS);
    return wait(state, { kind, object, context, problem }, pause_ms);
  }
}

/**
 * Whether the error concerns this resource only, such as a row that somebody keeps locked: the
 * others go on.
 */
async function isOwnTimeout(error: unknown, db: Queryable): Promise<boolean> {
  if (!(error instanceof ServiceError) || error.code !== 'query_timeout') return false;
  return db.query('select 1').then(
    () => true,
    () => false,
  );
}

/** The pause is randomized, so that not all resources return at once. */
async function wait(
  state: TenantState,
  { kind, object, problem, context }: Waiting,
  closed_ms: number,
): Promise<Outcome> {
  if (
    object !== undefined &&
    problem === 'SchemaNotReady' &&
    (await isReleasable(object, context.db))
  ) {
    await writeFinalizer(kind, { object, wanted: 'absent' }, context);
    return { kind: 'done' };
  }
  if (object !== undefined) await reportUnavailable(state, { kind, object, problem });
  return { kind: 'requeue', after_ms: closed_ms * (1 + state.random()) };
}

/**
 * A resource can have no rows in a database that was never migrated; one that does not answer may
 * hold anything.
 */
async function isReleasable(object: TenantObject, db: Queryable): Promise<boolean> {
  if (!isBeingDeleted(object) || !hasFinalizer(object) || directiveOf(object) !== undefined)
    return false;
  try {
    return !(await hasTintypeSchema(db));
  } catch (error) {
    if (databaseProblemOf(error) === undefined) throw error;
    return false;
  }
}

async function reconcileExisting(
  state: TenantState,
  known: TenantResource,
  context: ObjectContext,
): Promise<Outcome> {
  const { kind, object } = known;
  const { events } = state.context;
  for (const each of ignoredAnnotations(object)) events.record(regarding(known), each);
  // Only actual changes wake others: two resources that wait for each other would otherwise wake
  // each other without end.
  const changed = (changedRows: RowsChanged) => {
    reportChanges(state, known, changedRows);
    queueDependants(state, known);
    if (canUnblockOthers(changedRows)) requeueRefused(state, kind);
  };
  const result = await reconcileObject(kind, object, { ...context, changed });
  if (result.outcome === 'done') state.synced_at.set(nameOf(known), state.clock.elapsed());
  const isRefused = result.outcome === 'refused';
  state.refused.note(known, isRefused);
  if (isBeingDeleted(object) && result.outcome === 'done') queueDependants(state, known);
  const after_ms = spread(requeueDelay(state, object, result), state.random);
  return { kind: isRefused || result.isLasting ? 'back-off' : 'requeue', after_ms };
}

function requeueDelay(
  { resync_ms, source_ms, retry_ms }: TenantState,
  { spec: { image } = {} }: TenantObject,
  { outcome }: ObjectResult,
): number {
  if (outcome === 'paused') return resync_ms;
  if (outcome !== 'done') return retry_ms;
  const isInCluster = image?.configMapRef !== undefined || image?.secretRef !== undefined;
  return isInCluster ? Math.min(source_ms, resync_ms) : resync_ms;
}

function reportChanges(
  state: TenantState,
  known: TenantResource,
  { changes, differences }: RowsChanged,
): void {
  const { kind, object } = known;
  const name = keyOf(object.metadata);
  state.log.info('a resource changed its rows', { kind, name, changes });
  const { events } = state.context;
  const record = (reason: string, action: string, what: string) => {
    const note = `${what}: ${differences.map(printDifference).join('; ')}`;
    events.record(regarding(known), { type: 'Normal', reason, action, note });
  };
  if (changes.includes('adopt')) record('Adopted', 'Adopt', 'took over what no resource declared');
  if (changes.includes('rotate'))
    record('Rotated', 'Rotate', 'a new key signs; the previous one verifies for another day');
  if (!isDrift(object, changes)) return;
  const since = state.synced_at.get(nameOf(known));
  state.metrics.driftHealed(kind, since === undefined ? 0 : (state.clock.elapsed() - since) / 1000);
  record('DriftHealed', 'Heal', UNDONE);
}

function regarding({ kind, object }: TenantResource): KubeObject {
  return { ...object, apiVersion: API_VERSION, kind };
}

/** The same spec was in effect before, and the change is more than what was due. */
function isDrift({ metadata, status }: TenantObject, changes: readonly string[]): boolean {
  const ready = findCondition(status, 'Ready');
  const wasReady = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  return wasReady && !metadata.deletionTimestamp && hasUndone(changes);
}

/** The resource is gone, so there is no status or finalizer to write. */
async function releaseDeleted(
  state: TenantState,
  { kind, key }: { kind: TenantKind; key: string },
  context: ObjectContext,
): Promise<void> {
  for (const last of state.deleted.of(kind, key)) {
    const { metadata, spec } = last;
    const { finalizers: _, annotations: __, ...rest } = metadata;
    const deletionTimestamp = metadata.deletionTimestamp ?? state.clock.now().toISOString();
    const gone: TenantObject = { metadata: { ...rest, deletionTimestamp }, ...(spec && { spec }) };
    await reconcileObject(kind, gone, context).catch(ignoreMissing);
    queueDependants(state, { kind, object: gone });
    state.refused.note({ kind, object: gone }, false);
    requeueRefused(state, kind);
    state.deleted.drop(kind, key, last);
  }
}

/** Also if a new resource has the name by now. */
function ignoreMissing(error: unknown): void {
  if (!isNotFoundOrConflict(error)) throw error;
}

/** Queues the resources that refer to it. */
export function queueDependants(state: TenantState, { kind, object }: TenantResource): void {
  for (const each of state.dependants.of(kind, object)) {
    state.queues.get(each.kind)?.add(each.key, 'change');
  }
}

function nameOf({ kind, object: { metadata } }: TenantResource): string {
  return `${kind} ${keyOf(metadata)}`;
}
