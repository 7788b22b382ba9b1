/** What all parts of an installation have come to, those that are not there yet among them. */
import type { Finding } from './conditions.ts';
import { findingsOf, judgeCronJobs, judgeDeployment, type Verdict } from './findings.ts';
import { type Component, components } from './installation.ts';
import type { Observed } from './observed.ts';
import type { RenderedObject } from './render/object.ts';
import type { Rendered } from './render/render.ts';

/** Of what runs: how it does. Of what is not there: what it waits for. */
export function verdictsOf(
  rendered: Rendered,
  { deployments }: Observed,
  absent: () => Verdict,
): Map<Component, Verdict> {
  return new Map(
    components.map((component) => {
      const state = deployments[component];
      const { name } = deploymentOf(rendered, component).metadata;
      return [component, state === undefined ? absent() : judgeDeployment(name, state)];
    }),
  );
}

type Judged = {
  migration: Verdict;
  verdicts: ReadonlyMap<Component, Verdict>;
  rendered: Rendered;
  observed: Observed;
};

export function findingsWith({ migration, verdicts, rendered, observed }: Judged): Finding[] {
  return [
    { type: 'MigrationComplete', ...migration },
    ...findingsOf(verdicts),
    { type: 'CronJobsScheduled', ...judgeCronJobs(cronNames(rendered), observed.cronJobs) },
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
