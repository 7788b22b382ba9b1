/**
 * One pass over one key: the deleted resource, the existing one, and when to run again. If the database is down, or its
 * schema is not at this version yet, a condition reports it and the pass is retried later, never in a tight loop.
 */
import { ServiceError } from '../../runtime/core/errors.ts';
import type { Queryable } from '../../runtime/db/client.ts';
import { hasTintypeSchema } from '../../runtime/db/schema-presence.ts';
import type { FencedTerm } from '../fenced-term.ts';
import { API_VERSION } from '../kinds.ts';
import { isOvertaken, KubeFailure } from '../kube/kube-failure.ts';
import { NotLeading } from '../kube/led-client.ts';
import { findCondition } from '../kube/live-condition.ts';
import { type KubeObject, keyOf, parseKey } from '../kube/resource.ts';
import type { Pass } from '../kube/run-workers.ts';
import type { Outcome } from '../kube/work-queue.ts';
import { printDifference } from '../row-difference.ts';
import { type Absence, absenceOf } from './database-gate.ts';
import { directiveOf, ignoredAnnotations } from './directives.ts';
import { writeFinalizer } from './finalizer.ts';
import { type ObjectResult, reconcileObject } from './reconcile-object.ts';
import type { ObjectContext, RowsChanged } from './reconcile-rows.ts';
import { isLettingGo, wakeRefused } from './refused.ts';
import { type Known, tellAbsence, tellFailure } from './tell-tenant.ts';
import type { TenantState } from './tenant-controllers.ts';
import { isGoing, isHeld, type TenantKind, type TenantObject } from './tenant-object.ts';

const RESYNC_JITTER = 0.2;
/** The cache was outdated: the newer state is on its way. */
const CONFLICT_MS = 100;

type Running = { kind: TenantKind; pass: Pass; term: FencedTerm };
type Waiting = {
  kind: TenantKind;
  object: TenantObject | undefined;
  absence: Absence;
  context: ObjectContext;
};

export async function runPass(state: TenantState, running: Running): Promise<Outcome> {
  if (!running.term.isCurrent()) throw new NotLeading();
  const { namespace = '' } = parseKey(running.pass.key);
  if (!state.caches.isListed(namespace)) return { kind: 'again', after_ms: state.retry_ms };
  try {
    return await turnAt(state, running);
  } catch (error) {
    const isStale = error instanceof KubeFailure && error.reason === 'Conflict';
    if (isStale) return { kind: 'again', after_ms: CONFLICT_MS };
    throw error;
  }
}

async function turnAt(state: TenantState, { kind, pass, term }: Running): Promise<Outcome> {
  const delivery_root_domain = state.context.findRootDomain();
  const context = { ...state.context, delivery_root_domain, db: term.db };
  const object = state.caches.get(kind, pass.key);
  const shut_ms = state.gate.shut_ms();
  if (shut_ms > 0) {
    return wait(state, { kind, object, context, absence: state.gate.absence() }, shut_ms);
  }
  try {
    await letGo(state, { kind, key: pass.key }, context);
    const outcome = object && (await runOne(state, { kind, object }, context));
    state.gate.answered();
    return outcome ?? { kind: 'done' };
  } catch (error) {
    const absence = absenceOf(error);
    if (object !== undefined && (await isItsOwn(error, context.db))) {
      await tellAbsence(state, { kind, object, absence: 'DatabaseUnavailable' });
      throw error;
    }
    if (absence === undefined) {
      if (object !== undefined) await tellFailure(state, { kind, object, error });
      throw error;
    }
    state.gate.failed(absence);
    state.log.warn('the database is unavailable', { kind, name: pass.key, error });
    const pause_ms = Math.max(state.gate.shut_ms(), CONFLICT_MS);
    return wait(state, { kind, object, context, absence }, pause_ms);
  }
}

/**
 * Whether the error concerns this resource only, such as a row that somebody keeps locked: the
 * others go on.
 */
async function isItsOwn(error: unknown, db: Queryable): Promise<boolean> {
  if (!(error instanceof ServiceError) || error.code !== 'query_timeout') return false;
  return db.query('select 1').then(
    () => true,
    () => false,
  );
}

/** The pause is randomized, so that not all resources return at once. */
async function wait(
  state: TenantState,
  { kind, object, absence, context }: Waiting,
  shut_ms: number,
): Promise<Outcome> {
  if (object !== undefined && absence === 'SchemaNotReady' && (await isFree(object, context.db))) {
    await writeFinalizer(kind, { object, wanted: 'absent' }, context);
    return { kind: 'done' };
  }
  if (object !== undefined) await tellAbsence(state, { kind, object, absence });
  return { kind: 'again', after_ms: shut_ms * (1 + state.random()) };
}

/**
 * A resource can have no rows in a database that was never migrated; one that does not answer may
 * hold anything.
 */
async function isFree(object: TenantObject, db: Queryable): Promise<boolean> {
  if (!isGoing(object) || !isHeld(object) || directiveOf(object) !== undefined) return false;
  try {
    return !(await hasTintypeSchema(db));
  } catch (error) {
    if (absenceOf(error) === undefined) throw error;
    return false;
  }
}

async function runOne(state: TenantState, known: Known, context: ObjectContext): Promise<Outcome> {
  const { kind, object } = known;
  const { events } = state.context;
  for (const each of ignoredAnnotations(object)) events.tell(regarding(known), each);
  // Only actual changes wake others: two resources that wait for each other would otherwise wake
  // each other without end.
  const changed = (told: RowsChanged) => {
    tellChanges(state, known, told);
    wake(state, known);
    if (isLettingGo(told)) wakeRefused(state, kind);
  };
  const result = await reconcileObject(kind, object, { ...context, changed });
  if (result.outcome === 'done') state.synced_at.set(nameOf(known), state.clock.elapsed());
  const isRefused = result.outcome === 'refused';
  state.refused.note(known, isRefused);
  if (isGoing(object) && result.outcome === 'done') wake(state, known);
  const after_ms = pauseAfter(state, object, result) * (1 + (state.random() - 0.5) * RESYNC_JITTER);
  return { kind: isRefused || result.isLasting ? 'in-vain' : 'again', after_ms };
}

function pauseAfter(
  { resync_ms, source_ms, retry_ms }: TenantState,
  { spec: { image } = {} }: TenantObject,
  { outcome }: ObjectResult,
): number {
  if (outcome === 'paused') return resync_ms;
  if (outcome !== 'done') return retry_ms;
  const isInCluster = image?.configMapRef !== undefined || image?.secretRef !== undefined;
  return isInCluster ? Math.min(source_ms, resync_ms) : resync_ms;
}

function tellChanges(
  state: TenantState,
  known: Known,
  { changes, differences }: RowsChanged,
): void {
  const { kind, object } = known;
  const name = keyOf(object.metadata);
  state.log.info('a resource changed its rows', { kind, name, changes });
  const { events } = state.context;
  const tell = (reason: string, action: string, what: string) => {
    const note = `${what}: ${differences.map(printDifference).join('; ')}`;
    events.tell(regarding(known), { type: 'Normal', reason, action, note });
  };
  if (changes.includes('adopt')) tell('Adopted', 'Adopt', 'took over what no resource declared');
  if (changes.includes('rotate'))
    tell('Rotated', 'Rotate', 'a new key signs; the previous one verifies for another day');
  if (!isDrift(object, changes)) return;
  const since = state.synced_at.get(nameOf(known));
  state.metrics.driftHealed(kind, since === undefined ? 0 : (state.clock.elapsed() - since) / 1000);
  tell('DriftHealed', 'Heal', 'undid changes that somebody else had made');
}

function regarding({ kind, object }: Known): KubeObject {
  return { ...object, apiVersion: API_VERSION, kind };
}

/**
 * Changes that time, or the deletion of another resource, makes due: key rotation, a default that
 * is no longer declared.
 */
const DUE: readonly string[] = ['rotate', 'drop-watermark'];

/** The same spec was in effect before, and the change is more than what was due. */
function isDrift({ metadata, status }: TenantObject, changes: readonly string[]): boolean {
  const ready = findCondition(status, 'Ready');
  const wasReady = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  return wasReady && !metadata.deletionTimestamp && changes.some((change) => !DUE.includes(change));
}

/** The resource is gone, so there is no status or finalizer to write. */
async function letGo(
  state: TenantState,
  { kind, key }: { kind: TenantKind; key: string },
  context: ObjectContext,
): Promise<void> {
  for (const last of state.departed.of(kind, key)) {
    const { metadata, spec } = last;
    const { finalizers: _, annotations: __, ...rest } = metadata;
    const deletionTimestamp = metadata.deletionTimestamp ?? state.clock.now().toISOString();
    const gone: TenantObject = { metadata: { ...rest, deletionTimestamp }, ...(spec && { spec }) };
    await reconcileObject(kind, gone, context).catch(ignoreMissing);
    wake(state, { kind, object: gone });
    state.refused.note({ kind, object: gone }, false);
    wakeRefused(state, kind);
    state.departed.drop(kind, key, last);
  }
}

/** Also if a new resource has the name by now. */
function ignoreMissing(error: unknown): void {
  if (!isOvertaken(error)) throw error;
}

/** Queues the resources that refer to it. */
export function wake(state: TenantState, { kind, object }: Known): void {
  for (const each of state.dependants.of(kind, object)) {
    state.queues.get(each.kind)?.add(each.key, 'change');
  }
}

function nameOf({ kind, object: { metadata } }: Known): string {
  return `${kind} ${keyOf(metadata)}`;
}
