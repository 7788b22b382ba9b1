/**
 * One pass over one ImageService: gather the state, decide, write differences, report the result. It may run any number
 * of times; where everything is as declared it writes nothing. Spec: Project.
 */

import { directiveOf, ignoredAnnotations } from '../cluster/directives.ts';
import { conditionsOf, type Finding, withFinding } from '../image-service/conditions.ts';
import { type Decision, decide, PROBLEM_RETRY_SECONDS } from '../image-service/decide.ts';
import type { Observed } from '../image-service/observed.ts';
import { readSpec } from '../image-service/read-spec.ts';
import { API_VERSION } from '../kinds.ts';
import type { EventRecorder } from '../kube/events.ts';
import { isNotFoundOrConflict, KubeFailure, unwrap } from '../kube/kube-failure.ts';
import { findCondition } from '../kube/live-condition.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { reportTransition } from '../kube/report-transition.ts';
import { keyOf, type Place } from '../kube/resource.ts';
import type { TimedClock } from '../kube/timed-clock.ts';
import { type ApplyResult, applySteps, type ObjectChange, planSteps } from './apply-steps.ts';
import { type GatherContext, type Gathered, gather } from './gather.ts';
import { type ImageServiceObject, type ImageServiceStatus, imageServices } from './live-types.ts';
import { mutationEvent, withMutations } from './mutated-object.ts';
import { newestMigration } from './observe.ts';
import { withPlan } from './plan.ts';
import { reportDrift } from './report-drift.ts';
import { requeueAfter } from './requeue-after.ts';
import { hasStatus, pausedStatusOf, type StatusInput, statusOf } from './status.ts';
import { withProblems } from './with-problems.ts';
import type { WriteHistory } from './write-history.ts';

export type PassContext = GatherContext & {
  clock: TimedClock;
  events: Pick<EventRecorder, 'record'>;
  metrics: KubeMetrics;
  /** From previous passes. */
  history: WriteHistory;
};

export type PassResult = {
  /** Whether the ImageService exists and needs further passes. */
  isPresent: boolean;
  written: readonly ObjectChange[];
  requeue_after_seconds: number | undefined;
  /**
   * The scaler's input; undefined if there is nothing to scale. `as before`: unknown, so the
   * previous input stays.
   */
  gathered: Gathered | 'as before' | undefined;
};

const UNCHANGED: PassResult = {
  ...{ isPresent: true, written: [] },
  ...{ requeue_after_seconds: undefined, gathered: undefined },
};
const DELETED: PassResult = { ...UNCHANGED, isPresent: false };

export async function reconcileInstallation(
  place: Place,
  context: PassContext,
): Promise<PassResult> {
  const answer = await context.client.get(imageServices, place);
  if (!answer.ok && answer.failure.reason === 'NotFound') return DELETED;
  const service = unwrap(answer);
  // It owns its objects: the cluster deletes them after it.
  if (service.metadata.deletionTimestamp !== undefined) return DELETED;
  const directive = directiveOf(service);
  for (const each of ignoredAnnotations(service)) context.events.record(regarding(service), each);
  if (directive === 'paused') {
    await writeStatus(service, pausedStatusOf(service, context.clock.now()), context);
    return UNCHANGED;
  }
  const { spec, wrong } = readSpec(service.spec);
  if (spec === undefined) {
    await reportStatus(service, { conditions: conditionsOf([invalid(wrong)]) }, context);
    return { ...UNCHANGED, gathered: 'as before' };
  }
  const gathered = await gather(service, spec, context).catch(catchForbidden);
  if (gathered instanceof KubeFailure) {
    await reportStatus(
      service,
      { conditions: conditionsOf([readRefused(gathered, service)]) },
      context,
    );
    return { ...UNCHANGED, requeue_after_seconds: PROBLEM_RETRY_SECONDS, gathered: 'as before' };
  }
  const decision = decideOn(gathered, { now: context.clock.now(), wrong });
  if (directive === 'plan-only') {
    const conditions = withPlan(decision.conditions, plan(decision, gathered));
    await reportStatus(service, { ...decision, image: undefined, conditions }, context);
    return UNCHANGED;
  }
  const claim = claimOf(gathered.observed.database);
  if (claim?.databaseID !== undefined && claim.databaseID !== service.status?.databaseID) {
    await reportStatus(service, { conditions: claimedConditions(service), claim }, context);
    return { ...UNCHANGED, requeue_after_seconds: 0, gathered };
  }
  const result = await applySteps(context.client, decision.steps, {
    live: gathered.live,
    history: context.history,
  });
  await reportStatus(service, { ...statusInputOf(decision, result, gathered), claim }, context);
  reportDrift(regarding(service), result.written, context);
  for (const each of result.mutated) {
    if (each.since === 'tried') context.events.record(regarding(service), mutationEvent(each));
  }
  return {
    isPresent: true,
    written: result.written,
    requeue_after_seconds: requeueAfter(result, decision),
    gathered,
  };
}

/**
 * A missing permission returns only if somebody grants it: the resource says which, as nobody would
 * look in a log.
 */
function catchForbidden(error: unknown): KubeFailure {
  if (error instanceof KubeFailure && error.reason === 'Forbidden') return error;
  throw error;
}

function readRefused({ message }: KubeFailure, { metadata }: ImageServiceObject): Finding {
  const why = message.replace(/\.?$/, '.');
  const [, namespace = metadata.namespace] = /in the namespace "([^"]+)"/.exec(message) ?? [];
  const orElse =
    namespace === metadata.namespace
      ? ''
      : `, or remove '${namespace}' from TINTYPE_RUNTIME_NAMESPACES (\`runtimeNamespaces\` of the chart) if that namespace is gone`;
  return {
    ...{ type: 'Applied', reason: 'ReadRefused' },
    message: `The operator may not read objects that it needs: ${why} Grant it the rights of its Role in the chart or in config/${orElse}. Nothing is written meanwhile, and running pods keep running.`,
  };
}

/**
 * Reported before anything is created, so that no other begins meanwhile; while the database is
 * unknown the claim stays.
 */
function claimOf({ state, id }: Observed['database']): StatusInput['claim'] {
  if (state === 'reachable') return id === undefined ? {} : { databaseID: id };
  return state === 'other' || state === 'taken' ? {} : undefined;
}

/** Nothing was done yet: conditions of this generation stay. */
function claimedConditions({ metadata, status }: ImageServiceObject): StatusInput['conditions'] {
  const { conditions = [] } = status ?? {};
  const ready = findCondition(status, 'Ready');
  if (ready?.observedGeneration === metadata.generation) return conditions;
  const message = 'The installation has its database; its objects come next.';
  return conditionsOf([{ type: 'Applied', reason: 'NotApplied', message }]);
}

function invalid(message: string): Finding {
  return { type: 'Applied', reason: 'SpecInvalid', message };
}

type Deciding = { now: Date; wrong: string | undefined };

/**
 * A part that was left out of the spec does not stop the rest, but keeps the installation from
 * being as declared.
 */
function decideOn({ installation, observed }: Gathered, { now, wrong }: Deciding): Decision {
  const decision = decide({ installation, observed, now });
  const isApplied = decision.conditions.some(
    ({ type, reason }) => type === 'Applied' && reason === 'AsRendered',
  );
  if (wrong === undefined || !isApplied) return decision;
  return { ...decision, conditions: withFinding(decision.conditions, invalid(wrong)) };
}

/** Undefined: while something must be fixed first, the other changes are unknown. */
function plan({ steps, conditions }: Decision, { live }: Gathered): ObjectChange[] | undefined {
  const planned = planSteps(steps, live);
  const isBlocked = conditions.some(
    ({ type, reason }) => type === 'Applied' && reason === 'Blocked',
  );
  return isBlocked && planned.length === 0 ? undefined : planned;
}

function statusInputOf(
  decision: Decision,
  { problems, mutated }: ApplyResult,
  { observed, live }: Gathered,
): StatusInput {
  const conditions = withMutations(withProblems(decision.conditions, problems), mutated);
  const job = observed.migration.state === 'complete' ? newestMigration(live) : undefined;
  const { image, components } = decision;
  return { conditions, image, components, migrationJob: job };
}

function reportStatus(
  service: ImageServiceObject,
  input: StatusInput,
  context: PassContext,
): Promise<void> {
  return writeStatus(service, statusOf(service, input, context.clock.now()), context);
}

async function writeStatus(
  service: ImageServiceObject,
  status: ImageServiceStatus,
  context: PassContext,
): Promise<void> {
  const { client, metrics } = context;
  metrics.recordInstallation(keyOf(service.metadata), {
    isReady: findCondition(status, 'Ready')?.status !== 'False',
    isStalled: findCondition(status, 'Stalled')?.status === 'True',
    isPaused: findCondition(status, 'Paused')?.status === 'True',
  });
  if (hasStatus(service, status)) return;
  const { name, namespace = '', uid } = service.metadata;
  // Includes the uid, so that the status never goes to a new resource of the same name.
  const declared = { metadata: { name, namespace, uid }, status };
  const answer = await client.applyStatus(imageServices, declared, { owner: 'tintype/status' });
  // The resource was deleted or changed during the pass: the next one reports.
  if (!answer.ok && isNotFoundOrConflict(answer.failure)) return;
  unwrap(answer);
  const isRefused = findCondition(status, 'Ready')?.reason === 'SpecInvalid';
  reportTransition({ object: regarding(service), status, isRefused }, context);
}

function regarding(service: ImageServiceObject) {
  return { ...service, apiVersion: API_VERSION, kind: 'ImageService' };
}
