/** Sets the price of a project's deliveries from the next full hour on. Spec: Project; Metering. */
import { nextHour } from '../core/metering.ts';
import type { Transaction } from '../db/client.ts';
import { findDatabaseTime } from '../db/database-time.ts';
import { insertPricing } from '../db/project-pricing.ts';
import { type ProjectRow, updateProject } from '../db/projects.ts';

type Pricing = {
  project: ProjectRow;
  pricing_multiplier: string | undefined;
  /** The hour already announced to somebody; by default the next one by the database's clock. */
  effective_from?: Date;
};

/** Prices have rows of their own, but changing one also renews the project's version and time. */
export async function changePricing(
  tx: Transaction,
  { project, pricing_multiplier, ...announced }: Pricing,
): Promise<ProjectRow> {
  const isNew =
    pricing_multiplier !== undefined &&
    Number(pricing_multiplier) !== Number(project.pricing_multiplier);
  if (!isNew) return project;
  const { project_id } = project;
  const effective_from = announced.effective_from ?? nextHour(await findDatabaseTime(tx));
  await insertPricing(tx, { project_id, effective_from, pricing_multiplier });
  return (await updateProject(tx, { project_id, changes: {} })) ?? project;
}
