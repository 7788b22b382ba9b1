/** The state of all parts of an installation, including parts that do not exist yet. */
import type { Finding } from './conditions.ts';
import { findingsOf, judgeCronJobs, judgeDeployment } from './findings.ts';
import { type Component, components, type Installation } from './installation.ts';
import { judgeRoutes } from './judge-routes.ts';
import type { Observed, Verdict } from './observed.ts';
import { poolsOf } from './render/autoscaling.ts';
import type { RenderedObject } from './render/object.ts';
import type { Rendered } from './render/render.ts';

export type ObservedInstallation = {
  of: Installation;
  rendered: Rendered;
  observed: Observed;
  now: Date;
};

/** For an existing part its state, for a missing one what it waits for. */
export function verdictsOf(seen: ObservedInstallation, absent: Verdict): Map<Component, Verdict> {
  return new Map(components.map((component) => [component, verdictOf(seen, component) ?? absent]));
}

/** Undefined for a part that does not exist. */
export function verdictOf(
  { of, rendered, observed, now }: ObservedInstallation,
  component: Component,
): Verdict | undefined {
  const state = observed.deployments[component];
  const { name } = deploymentOf(rendered, component).metadata;
  const pool = poolsOf(of).find((each) => each.component === component);
  return state && judgeDeployment(name, state, { now, least: pool?.min });
}

export function notApplied(rendered: Rendered, component: Component): Verdict {
  const { name } = deploymentOf(rendered, component).metadata;
  return { reason: 'NotApplied', message: `${name} is being written.` };
}

type JudgedInstallation = ObservedInstallation & {
  migration: Verdict;
  verdicts: ReadonlyMap<Component, Verdict>;
  /** Why only the ground objects are written; undefined: everything is. */
  unwritten?: Verdict;
};

const asRendered: Verdict = {
  reason: 'AsRendered',
  message: 'Every object is as it was rendered.',
};

/** Ready reports the first finding of the worst outcome, so causes come before what they block. */
export function findingsWith(judged: JudgedInstallation): Finding[] {
  const { migration, verdicts, rendered, observed, unwritten } = judged;
  const cronJobs = judgeCronJobs(cronNames(rendered), observed.cronJobs, unwritten);
  return [
    { type: 'BrokerUsable', ...observed.broker },
    { type: 'StorageUsable', ...observed.storage },
    { type: 'MigrationComplete', ...migration },
    { type: 'Applied', ...(unwritten ?? asRendered) },
    ...findingsOf(verdicts),
    { type: 'CronJobsScheduled', ...cronJobs },
    { type: 'Routed', ...judgeRoutes(judged, unwritten) },
  ];
}

export function deploymentOf({ deployments }: Rendered, component: Component): RenderedObject {
  const found = deployments[components.indexOf(component)];
  if (found === undefined) throw new Error(`no Deployment is rendered for ${component}`);
  return found;
}

function cronNames({ rest }: Rendered): string[] {
  return rest.filter(({ kind }) => kind === 'CronJob').map(({ metadata }) => metadata.name);
}
