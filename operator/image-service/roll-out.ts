/**
 * Rolls a version out to workers and the dispatcher first, then to the parts that serve requests. Old pods stay until
 * new ones are ready, so a version that does not start takes nothing away.
 */
import { conditionsOf, reasons } from './conditions.ts';
import { judgeMigration } from './findings.ts';
import { type Component, components, type Installation, scalerOf } from './installation.ts';
import {
  deploymentOf,
  findingsWith,
  notApplied,
  type ObservedInstallation,
  verdictOf,
} from './judge-parts.ts';
import type { DeploymentState, Observed, ScalingProblem, Verdict } from './observed.ts';
import { poolsOf } from './render/autoscaling.ts';
import { REVISION } from './render/deployments.ts';
import type { RenderedObject } from './render/object.ts';
import { allObjects, type Rendered } from './render/render.ts';
import type { RollOut } from './roll-back.ts';
import { apply, isSame, pruneObjects } from './steps.ts';

/** These prove that a version works before users' requests depend on it. */
const FIRST: readonly Component[] = ['worker-ingest', 'worker-render', 'dispatcher'];

export function rollOut(seen: ObservedInstallation): RollOut {
  const { of, rendered, observed } = seen;
  const judged = new Map(components.map((component) => [component, judgeRollOut(seen, component)]));
  const isProven = FIRST.every((each) => isGood(judged.get(each)));
  const hasFinalizer = (component: Component) =>
    !isProven && !FIRST.includes(component) && isOlder(rendered, observed, component);
  const verdicts = new Map(
    [...judged].map(([component, verdict]) => [
      component,
      hasFinalizer(component) ? hold(rendered, component, judged) : verdict,
    ]),
  );
  const keda = missingKeda(of);
  if (keda !== undefined) verdicts.set('worker-ingest', keda);
  for (const [component, verdict] of scalingProblems(seen)) {
    if (isGood(verdicts.get(component))) verdicts.set(component, verdict);
  }
  const migration = judgeMigration(rendered.migration.metadata.name, observed.migration);
  const conditions = conditionsOf(findingsWith({ ...seen, migration, verdicts }));
  const held = components
    .filter(hasFinalizer)
    .map((component) => deploymentOf(rendered, component));
  const waiting = isProven
    ? []
    : rendered.rest.filter((object) => isPresentCronJob(object, observed));
  const withheld = [...held, ...waiting, ...(keda === undefined ? [] : kedaObjects(rendered))];
  return {
    steps: [
      ...allObjects(rendered)
        .filter((object) => object !== rendered.migration && !withheld.includes(object))
        .map(apply),
      ...pruneObjects(allObjects(rendered), observed),
    ],
    conditions,
    // Other problems that keep Ready from being True do not make this version a worse target for a
    // rollback.
    image: [...judged.values()].every(isGood) ? of.spec.image : undefined,
  };
}

function isGood(verdict: Verdict | undefined): boolean {
  return verdict !== undefined && reasons[verdict.reason].outcome === 'good';
}

function judgeRollOut(seen: ObservedInstallation, component: Component): Verdict {
  const { rendered, observed } = seen;
  if (!isOlder(rendered, observed, component)) {
    return verdictOf(seen, component) ?? notApplied(rendered, component);
  }
  const { name } = deploymentOf(rendered, component).metadata;
  return { reason: 'RollingOut', message: `${name} gets a new version.` };
}

/** Whether the Deployment exists with another template than the declared one. */
function isOlder(rendered: Rendered, { deployments }: Observed, component: Component): boolean {
  const state: DeploymentState | undefined = deployments[component];
  const wanted = deploymentOf(rendered, component).metadata.annotations?.[REVISION];
  return state !== undefined && state.revision !== wanted;
}

function hold(
  rendered: Rendered,
  component: Component,
  judged: ReadonlyMap<Component, Verdict>,
): Verdict {
  const { name } = deploymentOf(rendered, component).metadata;
  const stalled = FIRST.map((each) => judged.get(each)).find(
    (verdict) => verdict !== undefined && reasons[verdict.reason].outcome === 'stalled',
  );
  const why =
    stalled === undefined
      ? 'until workers and dispatcher have the new one'
      : `for: ${stalled.message}`;
  const message = `${name} stays at the previous version ${why}`;
  return { reason: stalled === undefined ? 'WaitingForWorkers' : 'Blocked', message };
}

function missingKeda({ spec, keda }: Installation): Verdict | undefined {
  if (spec.autoscaling?.mode !== 'KEDA' || keda === 'present') return undefined;
  const message =
    "`spec.autoscaling.mode` is 'KEDA', and the cluster has no ScaledObjects: install KEDA, or set 'Auto'.";
  return { reason: 'KedaNotInstalled', message };
}

/**
 * KEDA reports within seconds whether it can handle an object; its CRDs may be installed without
 * it.
 */
const SILENCE_SECONDS = 300;

/** Only for parts that run: what keeps a part from running is reported first. */
function scalingProblems({ of, observed, now }: ObservedInstallation): [Component, Verdict][] {
  if (scalerOf(of) !== 'keda') return [];
  return poolsOf(of).flatMap(({ component }): [Component, Verdict][] => {
    const why = whyUnscaled(observed.scalingProblems[component], now);
    if (why === undefined) return [];
    const name = `${of.name}-${component}`;
    const message = `KEDA does not set the number of pods of ${name}, so it stays as it is: ${why}; \`kubectl describe scaledobject ${name}\` says more.`;
    return [[component, { reason: 'ScalingFailed', message }]];
  });
}

function whyUnscaled(said: ScalingProblem | undefined, now: Date): string | undefined {
  if (said === undefined) return undefined;
  if ('why' in said) return said.why ?? 'it does not say why';
  const isSilent = now.getTime() - said.silent_since.getTime() >= SILENCE_SECONDS * 1000;
  return isSilent ? `it has reported nothing for ${SILENCE_SECONDS / 60} minutes` : undefined;
}

function kedaObjects(rendered: Rendered): RenderedObject[] {
  return rendered.rest.filter(({ apiVersion }) => apiVersion.startsWith('keda.sh/'));
}

function isPresentCronJob(object: RenderedObject, { present }: Observed): boolean {
  return object.kind === 'CronJob' && present.some((each) => isSame(each, object));
}
