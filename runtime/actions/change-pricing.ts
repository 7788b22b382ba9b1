/** What a project's deliveries cost from the next full hour on. Spec: Project; Metering. */
import { nextHour } from '../core/metering.ts';
import type { Transaction } from '../db/client.ts';
import { findDatabaseTime } from '../db/database-time.ts';
import { insertPricing } from '../db/project-pricing.ts';
import { type ProjectRow, updateProject } from '../db/projects.ts';

type Pricing = {
  project: ProjectRow;
  pricing_multiplier: string | undefined;
  /** Where it has been told already; else by the database's clock. */
  effective_from?: Date;
};

/** Prices are rows of their own, but the project has changed with them: its version and its time say so. */
export async function changePricing(
  tx: Transaction,
  { project, pricing_multiplier, ...told }: Pricing,
): Promise<ProjectRow> {
  const isNew =
    pricing_multiplier !== undefined &&
    Number(pricing_multiplier) !== Number(project.pricing_multiplier);
  if (!isNew) return project;
  const { project_id } = project;
  const effective_from = told.effective_from ?? nextHour(await findDatabaseTime(tx));
  await insertPricing(tx, { project_id, effective_from, pricing_multiplier });
  return (await updateProject(tx, { project_id, changes: {} })) ?? project;
}
