/**
 * One pass over one ImageService: gather the state, decide, write differences, report the result. It may run any number
 * of times; where everything is as declared it writes nothing. Spec: Project.
 */

import { directiveOf, ignoredAnnotations } from '../cluster/directives.ts';
import { conditionsOf, type Finding, withFinding } from '../image-service/conditions.ts';
import { type Decision, decide } from '../image-service/decide.ts';
import { printPath } from '../image-service/find-difference.ts';
import type { Observed } from '../image-service/observed.ts';
import { readSpec } from '../image-service/read-spec.ts';
import { API_VERSION } from '../kinds.ts';
import type { EventRecorder } from '../kube/events.ts';
import { isOvertaken, KubeFailure, unwrap } from '../kube/kube-failure.ts';
import { findCondition } from '../kube/live-condition.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { keyOf, type Place } from '../kube/resource.ts';
import { tellTransition } from '../kube/tell-transition.ts';
import type { TimedClock } from '../kube/timed-clock.ts';
import { happeningOf, withAltered } from './altered.ts';
import { carryOut, type Deeds, planSteps, type Written } from './carry-out.ts';
import { type GatherContext, type Gathered, gather } from './gather.ts';
import { type ImageServiceObject, type ImageServiceStatus, imageServices } from './live-types.ts';
import { lookAgain, TROUBLE_SECONDS } from './look-again.ts';
import { newestMigration } from './observe.ts';
import { withPlan } from './plan.ts';
import { isWritten, pausedStatusOf, statusOf, type Told } from './status.ts';
import { withTroubles } from './troubles.ts';
import type { WritingMemory } from './writing-memory.ts';

export type PassContext = GatherContext & {
  clock: TimedClock;
  events: Pick<EventRecorder, 'tell'>;
  metrics: KubeMetrics;
  /** From previous passes. */
  memory: WritingMemory;
};

export type PassResult = {
  /** Whether the ImageService exists and needs further passes. */
  isThere: boolean;
  written: readonly Written[];
  look_again_seconds: number | undefined;
  /**
   * The scaler's input; undefined if there is nothing to scale. `as before`: unknown, so the
   * previous input stays.
   */
  gathered: Gathered | 'as before' | undefined;
};

const STAYS: PassResult = {
  ...{ isThere: true, written: [] },
  ...{ look_again_seconds: undefined, gathered: undefined },
};
const GONE: PassResult = { ...STAYS, isThere: false };

export async function passOver(place: Place, context: PassContext): Promise<PassResult> {
  const answer = await context.client.get(imageServices, place);
  if (!answer.ok && answer.failure.reason === 'NotFound') return GONE;
  const service = unwrap(answer);
  // It owns its objects: the cluster deletes them after it.
  if (service.metadata.deletionTimestamp !== undefined) return GONE;
  const directive = directiveOf(service);
  for (const each of ignoredAnnotations(service)) context.events.tell(regarding(service), each);
  if (directive === 'paused') {
    await write(service, pausedStatusOf(service, context.clock.now()), context);
    return STAYS;
  }
  const { spec, wrong } = readSpec(service.spec);
  if (spec === undefined) {
    await tell(service, { conditions: conditionsOf([invalid(wrong)]) }, context);
    return { ...STAYS, gathered: 'as before' };
  }
  const gathered = await gather(service, spec, context).catch(takeForbidden);
  if (gathered instanceof KubeFailure) {
    await tell(service, { conditions: conditionsOf([unread(gathered, service)]) }, context);
    return { ...STAYS, look_again_seconds: TROUBLE_SECONDS, gathered: 'as before' };
  }
  const decision = decideOn(gathered, { now: context.clock.now(), wrong });
  if (directive === 'plan-only') {
    const conditions = withPlan(decision.conditions, plan(decision, gathered));
    await tell(service, { ...decision, image: undefined, conditions }, context);
    return STAYS;
  }
  const claim = claimOf(gathered.observed.database);
  if (claim?.databaseID !== undefined && claim.databaseID !== service.status?.databaseID) {
    await tell(service, { conditions: untilLetIn(service), claim }, context);
    return { ...STAYS, look_again_seconds: 0, gathered };
  }
  const deeds = await carryOut(context.client, decision.steps, {
    live: gathered.live,
    memory: context.memory,
  });
  await tell(service, { ...toldOf(decision, deeds, gathered), claim }, context);
  tellDrift(service, deeds.written, context);
  for (const each of deeds.altered) {
    if (each.since === 'tried') context.events.tell(regarding(service), happeningOf(each));
  }
  return {
    isThere: true,
    written: deeds.written,
    look_again_seconds: lookAgain(deeds, decision),
    gathered,
  };
}

/**
 * A missing permission returns only if somebody grants it: the resource says which, as nobody would
 * look in a log.
 */
function takeForbidden(error: unknown): KubeFailure {
  if (error instanceof KubeFailure && error.reason === 'Forbidden') return error;
  throw error;
}

function unread({ message }: KubeFailure, { metadata }: ImageServiceObject): Finding {
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
function claimOf({ state, id }: Observed['database']): Told['claim'] {
  if (state === 'reachable') return id === undefined ? {} : { databaseID: id };
  return state === 'other' || state === 'taken' ? {} : undefined;
}

/** Nothing was done yet: conditions of this generation stay. */
function untilLetIn({ metadata, status }: ImageServiceObject): Told['conditions'] {
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
function plan({ steps, conditions }: Decision, { live }: Gathered): Written[] | undefined {
  const planned = planSteps(steps, live);
  const isBlocked = conditions.some(
    ({ type, reason }) => type === 'Applied' && reason === 'Blocked',
  );
  return isBlocked && planned.length === 0 ? undefined : planned;
}

function toldOf(
  decision: Decision,
  { troubles, altered }: Deeds,
  { observed, live }: Gathered,
): Told {
  const conditions = withAltered(withTroubles(decision.conditions, troubles), altered);
  const job = observed.migration.state === 'complete' ? newestMigration(live) : undefined;
  const { image, components } = decision;
  return { conditions, image, components, migrationJob: job };
}

function tell(service: ImageServiceObject, told: Told, context: PassContext): Promise<void> {
  return write(service, statusOf(service, told, context.clock.now()), context);
}

async function write(
  service: ImageServiceObject,
  status: ImageServiceStatus,
  context: PassContext,
): Promise<void> {
  const { client, metrics } = context;
  metrics.installationSeen(keyOf(service.metadata), {
    isReady: findCondition(status, 'Ready')?.status !== 'False',
    isStalled: findCondition(status, 'Stalled')?.status === 'True',
    isPaused: findCondition(status, 'Paused')?.status === 'True',
  });
  if (isWritten(service, status)) return;
  const { name, namespace = '', uid } = service.metadata;
  // Includes the uid, so that the status never goes to a new resource of the same name.
  const declared = { metadata: { name, namespace, uid }, status };
  const answer = await client.applyStatus(imageServices, declared, { owner: 'tintype/status' });
  // The resource was deleted or changed during the pass: the next one reports.
  if (!answer.ok && isOvertaken(answer.failure)) return;
  unwrap(answer);
  const isRefused = findCondition(status, 'Ready')?.reason === 'SpecInvalid';
  tellTransition({ object: regarding(service), status, isRefused }, context);
}

const KIND = 'ImageService';

function regarding(service: ImageServiceObject) {
  return { ...service, apiVersion: API_VERSION, kind: KIND };
}

/**
 * A missing object counts as drift if everything was in effect before. A migration Job never does:
 * a changed Secret makes a new one.
 */
function tellDrift(
  service: ImageServiceObject,
  written: readonly Written[],
  { events, metrics }: PassContext,
): void {
  const ready = findCondition(service.status, 'Ready');
  const wasReady =
    ready?.status === 'True' && ready.observedGeneration === service.metadata.generation;
  const healed = written.filter(
    ({ change, kind, isHealing }) =>
      isHealing || (wasReady && change === 'create' && kind !== 'Job'),
  );
  if (healed.length === 0) return;
  metrics.driftHealed(KIND, 0);
  const objects = healed.map(printHealed).join(', ');
  events.tell(regarding(service), {
    ...{ type: 'Normal', reason: 'DriftHealed', action: 'Heal' },
    note: `objects were not as they were rendered: ${objects}`,
  });
}

function printHealed({ change, kind, name, path, by }: Written): string {
  if (path === undefined) return `${change} ${kind} ${name}`;
  const who = by === undefined ? '' : ` by '${by}'`;
  return `${change} ${kind} ${name} (${printPath(path)} was changed${who})`;
}
