/**
 * One pass over one live resource: its kind's reconciler handles the rows, then come its finalizer and status. The
 * finalizer follows the claim of a row, so that a resource whose claim failed can be deleted without touching anything.
 * Spec: Resources and their fields.
 */
import { type Condition, type Outcome, outcomeOf } from '../conditions.ts';
import type { Result } from '../reconcile.ts';
import { restoreSecretNames } from './callback-secret.ts';
import { directiveOf } from './directives.ts';
import { type OwnedRows, readOwned } from './facts.ts';
import { writeFinalizer } from './finalizer.ts';
import { withPlan } from './plan.ts';
import { planSecrets } from './plan-secrets.ts';
import { type ObjectContext, reconcileRows } from './reconcile-rows.ts';
import { pausedStatusOf, statusOf, type Verdict } from './status.ts';
import { isBeingDeleted, type TenantKind, type TenantObject } from './tenant-object.ts';
import { type StatusContext, writeStatus } from './write-status.ts';

export type ObjectResult = Pick<Result, 'changes' | 'differences'> & {
  /** `paused`: no pass ran. */
  outcome: Outcome | 'paused';
  /** Another pass soon would give the same result, at a cost. */
  isLasting?: true;
};

export async function reconcileObject(
  kind: TenantKind,
  found: TenantObject,
  context: ObjectContext,
): Promise<ObjectResult> {
  const directive = directiveOf(found);
  if (directive === 'paused') return pause(kind, found, context);
  if (directive === 'plan-only') return plan(kind, found, context);
  const restored = await withLostSecretNames(found, context);
  const { object, conditions, ...rowsResult } = await reconcileRows(kind, restored, context);
  if (rowsResult.changes.length > 0) context.changed?.(rowsResult);
  const outcome = outcomeOf(conditions);
  const result = { ...rowsResult, outcome };
  if (isBeingDeleted(object) && outcome === 'done') {
    await writeFinalizer(kind, { object, wanted: 'absent' }, context);
    return result;
  }
  const owned = await ownedBy(kind, object, context);
  const { facts } = owned;
  // Whatever the conditions say: a resource that owns no row can be deleted at once and needs no
  // finalizer.
  if (!isBeingDeleted(object) && isOwning(facts)) {
    await writeFinalizer(kind, { object, wanted: 'present' }, context);
  }
  const said = [...conditions, ...routed(kind, { object, owned }, context)];
  const status = statusOf(object, { conditions: said, facts }, context.clock.now());
  await writeStatus(kind, { object, status }, context);
  return result;
}

/**
 * Runs first, as the next steps depend on the recorded names. Deletion removes the Secrets together
 * with their Project.
 */
function withLostSecretNames(
  object: TenantObject,
  { client, lost_secret_names }: ObjectContext,
): TenantObject | Promise<TenantObject> {
  const lost = lost_secret_names?.of(object) ?? [];
  return lost.length === 0 || isBeingDeleted(object)
    ? object
    : restoreSecretNames(client, object, lost);
}

function ownedBy(
  kind: TenantKind,
  { metadata: { uid: owner_uid } }: TenantObject,
  { db, delivery_root_domain }: ObjectContext,
): Promise<OwnedRows> {
  return readOwned(db, kind, { owner_uid, delivery_root_domain });
}

/**
 * Part of the same status write where the result needs no write of its own: most projects have no
 * route.
 */
function routed(
  kind: TenantKind,
  { object, owned }: { object: TenantObject; owned: OwnedRows },
  { judgeRoute }: ObjectContext,
): Condition[] {
  const condition = kind === 'Project' ? judgeRoute?.(object, owned.project) : undefined;
  return condition === undefined ? [] : [condition];
}

const IDS = ['projectID', 'kid', 'presetID', 'recipeID'];

function isOwning(facts: Verdict['facts']): boolean {
  return IDS.some((id) => facts[id] !== undefined);
}

async function plan(
  kind: TenantKind,
  object: TenantObject,
  context: ObjectContext,
): Promise<ObjectResult> {
  const rows = await reconcileRows(kind, object, { ...context, mode: 'plan-only' });
  const isAccepted = kind === 'Project' && outcomeOf(rows.conditions) !== 'refused';
  const secrets = isAccepted ? await planSecrets(object, rows, context) : { lines: [] };
  const planned = { ...rows, conditions: secrets.taken ?? rows.conditions };
  const routes = kind === 'Project' ? await context.planRoutes?.(object) : undefined;
  const conditions = withPlan(planned, [...secrets.lines, ...(routes ?? [])]);
  const { facts } = await ownedBy(kind, object, context);
  const status = statusOf(object, { conditions, facts }, context.clock.now());
  await writeStatus(kind, { object, status }, context);
  return { ...planned, outcome: outcomeOf(conditions), changes: [], differences: [] };
}

/** Does not query the database. */
export async function pause(
  kind: TenantKind,
  object: TenantObject,
  context: StatusContext,
): Promise<ObjectResult> {
  const message = isBeingDeleted(object)
    ? 'the deletion waits until the annotation `tintype.dev/paused` is removed'
    : 'the annotation `tintype.dev/paused` keeps the resource unchanged';
  const paused = { type: 'Paused', status: 'True', reason: 'Paused', message } as const;
  const isNew = object.status?.conditions === undefined;
  const ready = {
    type: 'Ready',
    status: isNew ? 'Unknown' : 'False',
    reason: 'Paused',
    message,
  } as const;
  const conditions = isNew || isBeingDeleted(object) ? [ready, paused] : [paused];
  const status = pausedStatusOf(object, conditions, context.clock.now());
  await writeStatus(kind, { object, status }, context);
  return { outcome: 'paused', changes: [], differences: [] };
}
