/**
 * Compares the stages of metering for some projects over the last seven days, today included: what delivery servers
 * sent, how it was summed, what that costs, and what was charged. Changes nothing. Spec: Staff (reconciliation).
 */
import { inChunks } from '../core/in-chunks.ts';
import {
  billedHours,
  dailyCharge,
  dayOf,
  isHourExempt,
  reconciledSince,
  reconciliationDays,
  startOfDay,
} from '../core/metering.ts';
import { type Difference, differencesOf, type MeteringDay } from '../core/reconciliation.ts';
import type { Queryable } from '../db/client.ts';
import { listExemptions } from '../db/organization-exemptions.ts';
import { listPricing } from '../db/project-pricing.ts';
import {
  type DayOfProject,
  listDaysOfProjects,
  listMeteredProjects,
} from '../db/reconciliation.ts';
import { listUsageHours, type UsageHourRow } from '../db/usage-hours.ts';

export type ReconciledDay = MeteringDay & { differences: Difference[] };

/** Projects compared at a time. */
const PAGE = 200;

/** For one project, or for all with null: yields the days of one page of projects at a time. */
export async function* reconcileProjects(
  db: Queryable,
  { project_id, now }: { project_id: string | null; now: Date },
): AsyncGenerator<ReconciledDay[]> {
  const all =
    project_id === null ? await listMeteredProjects(db, reconciledSince(now)) : [project_id];
  for (const project_ids of inChunks(all, PAGE)) yield reconcileUsage(db, { project_ids, now });
}

/** By project and day, oldest first, without days on which nothing was delivered or charged. */
async function reconcileUsage(
  db: Queryable,
  { project_ids, now }: { project_ids: readonly string[]; now: Date },
): Promise<ReconciledDay[]> {
  const days = reconciliationDays(now);
  const [from = '', to = ''] = [days[0], days.at(-1)];
  const rows = await listDaysOfProjects(db, { project_ids, from, to });
  const range = { from: startOfDay(from), to: now };
  const hours = Map.groupBy(await listUsageHours(db, { project_ids, ...range }), keyOf);
  const pricing = await listPricing(db, project_ids);
  const exemptions = await listExemptions(db, [
    ...new Set(rows.map(({ organization_id }) => organization_id)),
  ]);
  return rows.map((row) => {
    const exempt = exemptions.filter((one) => one.organization_id === row.organization_id);
    const own = hours.get(keyOf(row)) ?? [];
    const terms = {
      hours: own,
      pricing: pricing.filter((one) => one.project_id === row.project_id),
      exempt,
    };
    const { organization_id: _, ...facts } = row;
    const state = {
      ...facts,
      exempt_credits: own
        .filter(({ window_start }) => isHourExempt(exempt, window_start))
        .reduce((sum, { credits }) => sum + credits, 0),
      owed_credits: dailyCharge(billedHours(terms)),
    };
    return { ...state, differences: differencesOf(state, now) };
  });
}

/** The key of a project's day, or of the day that contains an hour. */
function keyOf(of: DayOfProject | UsageHourRow): string {
  return `${of.project_id} ${'day' in of ? of.day : dayOf(of.window_start)}`;
}
