/**
 * One pass over one ImageService: gather what is, decide, write what differs, say what became of it. It may run any
 * number of times; where everything is as declared it writes nothing. Spec: Project.
 */
import { directiveOf, ignoredAnnotations } from '../cluster/directives.ts';
import { conditionsOf, type Finding } from '../image-service/conditions.ts';
import { type Decision, decide } from '../image-service/decide.ts';
import type { Observed } from '../image-service/observed.ts';
import { imageServiceSpec } from '../image-service/schema.ts';
import { API_VERSION } from '../kinds.ts';
import type { EventRecorder } from '../kube/events.ts';
import { isOvertaken, KubeFailure, unwrap } from '../kube/kube-failure.ts';
import { findCondition } from '../kube/live-condition.ts';
import type { KubeMetrics } from '../kube/metrics.ts';
import { keyOf, type Place } from '../kube/resource.ts';
import { tellTransition } from '../kube/tell-transition.ts';
import type { TimedClock } from '../kube/timed-clock.ts';
import { printIssues } from '../print-issues.ts';
import type { Became } from './became.ts';
import { carryOut, type Deeds, type Planned, planSteps, type Written } from './carry-out.ts';
import { type GatherContext, type Gathered, gather } from './gather.ts';
import { type ImageServiceObject, type ImageServiceStatus, imageServices } from './live-types.ts';
import { newestMigration } from './observe.ts';
import { withPlan } from './plan.ts';
import { isWritten, pausedStatusOf, statusOf, type Told } from './status.ts';
import { withTroubles } from './troubles.ts';

export type PassContext = GatherContext & {
  clock: TimedClock;
  events: Pick<EventRecorder, 'tell'>;
  metrics: KubeMetrics;
  /** Of the passes before; without it what is written is written anew. */
  became?: Became;
};

export type PassResult = {
  /** Whether there is anything to look at again. */
  isThere: boolean;
  written: readonly Written[];
  look_again_seconds: number | undefined;
  /** What the scaler works with; undefined where there is nothing to scale. `as before`: nobody can tell. */
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
  // Its objects belong to it: the cluster takes them away after it.
  if (service.metadata.deletionTimestamp !== undefined) return GONE;
  const directive = directiveOf(service);
  for (const each of ignoredAnnotations(service)) context.events.tell(regarding(service), each);
  if (directive === 'paused') {
    await write(service, pausedStatusOf(service, context.clock.now()), context);
    return STAYS;
  }
  const spec = imageServiceSpec.safeParse(service.spec);
  if (!spec.success) {
    const message = printIssues(spec.error);
    const conditions = conditionsOf([{ type: 'Applied', reason: 'SpecInvalid', message }]);
    await tell(service, { conditions }, context);
    return { ...STAYS, gathered: 'as before' };
  }
  const gathered = await gather(service, spec.data, context).catch(takeForbidden);
  if (gathered instanceof KubeFailure) {
    await tell(service, { conditions: conditionsOf([unread(gathered)]) }, context);
    return { ...STAYS, look_again_seconds: TROUBLE_SECONDS, gathered: 'as before' };
  }
  const decision = decideOn(gathered, context.clock.now());
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
    became: context.became,
  });
  await tell(service, { ...toldOf(decision, deeds, gathered), claim }, context);
  tellDrift(service, deeds.written, context);
  return {
    isThere: true,
    written: deeds.written,
    look_again_seconds: deeds.troubles.length > 0 ? TROUBLE_SECONDS : decision.look_again_seconds,
    gathered,
  };
}

const TROUBLE_SECONDS = 15;

/** A right that is missing comes back by somebody's hand: the resource says which, as nobody would look for it in a log. */
function takeForbidden(error: unknown): KubeFailure {
  if (error instanceof KubeFailure && error.reason === 'Forbidden') return error;
  throw error;
}

function unread({ message }: KubeFailure): Finding {
  const why = message.replace(/\.?$/, '.');
  return {
    ...{ type: 'Applied', reason: 'ReadRefused' },
    message: `The operator may not read what it has to look at: ${why} Grant it what its Role of the chart, or of config/, grants. Nothing is written meanwhile, and what runs goes on.`,
  };
}

/** Said before anything is made, so that no other begins meanwhile; where nobody can tell it stays as it was. */
function claimOf({ state, id }: Observed['database']): Told['claim'] {
  if (state === 'reachable') return id === undefined ? {} : { databaseID: id };
  return state === 'other' || state === 'taken' ? {} : undefined;
}

/** Nothing was done yet: what was said of this generation stays. */
function untilLetIn({ metadata, status }: ImageServiceObject): Told['conditions'] {
  const { conditions = [] } = status ?? {};
  const ready = findCondition(status, 'Ready');
  if (ready?.observedGeneration === metadata.generation) return conditions;
  const message = 'The installation has its database; its objects come next.';
  return conditionsOf([{ type: 'Applied', reason: 'NotApplied', message }]);
}

function decideOn({ installation, observed }: Gathered, now: Date): Decision {
  return decide({ installation, observed, now });
}

function plan({ steps }: Decision, { live }: Gathered): Planned[] | undefined {
  return steps.length === 0 ? undefined : planSteps(steps, live);
}

function toldOf(decision: Decision, { troubles }: Deeds, { observed, live }: Gathered): Told {
  const conditions = withTroubles(decision.conditions, troubles);
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
  // With its uid: a namesake that came in between is not told of this one.
  const declared = { metadata: { name, namespace, uid }, status };
  const answer = await client.applyStatus(imageServices, declared, { owner: 'tintype/status' });
  // It went while it was looked at: nobody is left to be told.
  if (!answer.ok && isOvertaken(answer.failure)) return;
  unwrap(answer);
  const isRefused = findCondition(status, 'Ready')?.reason === 'SpecInvalid';
  tellTransition({ object: regarding(service), status, isRefused }, context);
}

const KIND = 'ImageService';

function regarding(service: ImageServiceObject) {
  return { ...service, apiVersion: API_VERSION, kind: KIND };
}

/** What was away counts where all of it was in effect, and a migration never: it is another one for another Secret. */
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
  const objects = healed.map(({ change, kind, name }) => `${change} ${kind} ${name}`).join(', ');
  events.tell(regarding(service), {
    ...{ type: 'Normal', reason: 'DriftHealed', action: 'Heal' },
    note: `objects were not as they were rendered: ${objects}`,
  });
}
