/** All objects of an installation, in the order of applying. Pure: the same input gives the same output. */
import type { Installation } from '../installation.ts';
import { renderAutoscaling } from './autoscaling.ts';
import { renderCronJobs } from './cron-jobs.ts';
import { renderDeployments } from './deployments.ts';
import { renderMigrationJob } from './migration-job.ts';
import { renderNetworkPolicies } from './network-policies.ts';
import type { RenderedObject } from './object.ts';
import { renderRoutes } from './routes.ts';
import { renderDisruptionBudgets, renderServiceAccount, renderServices } from './services.ts';

export type Rendered = {
  /** Objects that must exist before anything runs. */
  ground: RenderedObject[];
  migration: RenderedObject;
  /** In the order in which they are updated to a new version. */
  deployments: RenderedObject[];
  /** What routes to the Deployments, moves them and runs beside them. */
  rest: RenderedObject[];
};

export function renderInstallation(of: Installation): Rendered {
  return {
    ground: [renderServiceAccount(of), ...renderNetworkPolicies(of)],
    migration: renderMigrationJob(of),
    deployments: renderDeployments(of),
    rest: [
      ...renderServices(of),
      ...renderDisruptionBudgets(of),
      ...renderAutoscaling(of),
      ...renderCronJobs(of),
      ...renderRoutes(of),
    ],
  };
}

export function allObjects({ ground, migration, deployments, rest }: Rendered): RenderedObject[] {
  return [...ground, migration, ...deployments, ...rest];
}
