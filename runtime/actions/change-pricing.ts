/** What a project's deliveries cost from the next full hour on. Spec: Project; Metering. */
import { nextHour } from '../core/metering.ts';
import type { Transaction } from '../db/client.ts';
import { insertPricing } from '../db/project-pricing.ts';
import { type ProjectRow, updateProject } from '../db/projects.ts';
import type { Clock } from '../platform/clock.ts';

type Pricing = { project: ProjectRow; pricing_multiplier: string | undefined };

/** Prices are rows of their own, but the project has changed with them: its version and its time say so. */
export async function changePricing(
  tx: Transaction,
  { clock }: { clock: Clock },
  { project, pricing_multiplier }: Pricing,
): Promise<ProjectRow> {
  const isNew =
    pricing_multiplier !== undefined &&
    Number(pricing_multiplier) !== Number(project.pricing_multiplier);
  if (!isNew) return project;
  const { project_id } = project;
  const effective_from = nextHour(clock.now());
  await insertPricing(tx, { project_id, effective_from, pricing_multiplier });
  return (await updateProject(tx, { project_id, changes: {} })) ?? project;
}
