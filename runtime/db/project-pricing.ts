// Table project_pricing: pricing multipliers by the full hour from which they apply. Spec: Project; Metering.
import type { Queryable } from './client.ts';

export type PricingRow = { project_id: string; effective_from: Date; pricing_multiplier: string };

/** A second change for the same hour replaces the first. */
export async function insertPricing(db: Queryable, pricing: PricingRow): Promise<void> {
  await db.query(
    `insert into project_pricing (project_id, effective_from, multiplier) values ($1, $2, $3)
     on conflict (project_id, effective_from) do update set multiplier = excluded.multiplier`,
    [pricing.project_id, pricing.effective_from, pricing.pricing_multiplier],
  );
}

/** Every change of these projects, oldest first. */
export async function listPricing(
  db: Queryable,
  projectIds: readonly string[],
): Promise<PricingRow[]> {
  return db.query(
    `select project_id, effective_from, multiplier as pricing_multiplier from project_pricing
     where project_id = any($1) order by project_id, effective_from`,
    [projectIds],
  );
}
