/**
 * Sums the usage received so far and charges the last three days: the current cost of a day minus what was already
 * charged for it, as ledger entries in one transaction with the organization's balance and quota. A late event raises
 * the charge, a correction refunds, and repeating a run changes nothing. Spec: Metering; Organization quota.
 */
import { type QuotaChange, updateQuotaStatus } from '../actions/update-quota-status.ts';
import {
  billedHours,
  chargedDays,
  dailyCharge as chargeOfDay,
  countHoursClosed,
  dayOf,
  type ExemptPeriod,
  startOfDay,
} from '../core/metering.ts';
import { isUnavailable } from '../core/outage.ts';
import type { Queryable, Transaction } from '../db/client.ts';
import { insertLedgerEntry } from '../db/ledger.ts';
import { listExemptions } from '../db/organization-exemptions.ts';
import { listUnsettledOrganizations, lockOrganization } from '../db/organizations.ts';
import { listPricing, type PricingRow } from '../db/project-pricing.ts';
import { foldUsageDay } from '../db/usage-days.ts';
import {
  listProjectsWithUsage,
  listUsageHours,
  listWithUsage,
  type UsageHourRow,
} from '../db/usage-hours.ts';
import type { Clock } from '../platform/clock.ts';
import type { Failpoint } from '../platform/failpoint.ts';
import { hourlyRollup } from './hourly-rollup.ts';
import type { JobContext, JobCounts } from './job.ts';

const PAGE_ROWS = 1000;

export async function dailyCharge(
  context: JobContext,
  { page_rows = PAGE_ROWS }: { page_rows?: number } = {},
): Promise<JobCounts> {
  const counts = { organizations: 0, entries: 0, credits: 0, exceeded: 0, restored: 0 };
  const failures: unknown[] = [];
  const unsummed = await sumSafely(context);
  for (const [organization_id, project_ids] of await organizationsToCharge(context, page_rows)) {
    context.signal.throwIfAborted();
    const charged = await chargeSafely(context, { organization_id, project_ids });
    if ('error' in charged) {
      failures.push(charged.error);
      continue;
    }
    await context.failpoint?.('charge.committed');
    counts.organizations += 1;
    counts.entries += charged.entries;
    counts.credits += charged.credits;
    if (charged.quota !== 'unchanged') counts[charged.quota] += 1;
  }
  if (failures.length > 0) {
    const [cause] = failures;
    throw new Error(`${failures.length} of the organizations could not be charged`, { cause });
  }
  if (unsummed !== undefined) throw unsummed;
  return counts;
}

/**
 * Missed nights are charged at once when jobs run again, and usage still waiting to be summed would
 * come too late. A failure does not stop the charge of other usage: it fails the run at the end.
 */
async function sumSafely(context: JobContext): Promise<unknown> {
  try {
    await hourlyRollup(context);
    return undefined;
  } catch (error) {
    if (isUnavailable(error) || context.signal.aborted) throw error;
    context.log.error('usage was not summed before its charge', { error });
    return error;
  }
}

/**
 * An organization that cannot be charged now, for example because its row is locked, does not stop
 * the others: it is logged and fails the run at the end.
 */
async function chargeSafely(
  context: JobContext,
  organization: Pick<Charging, 'organization_id' | 'project_ids'>,
): Promise<Charged | { error: unknown }> {
  try {
    // If the commit is in doubt, charge again: what was charged by then no longer counts as a
    // difference.
    return await context.db.transaction(
      (tx) => chargeOrganization(tx, { ...organization, ...context }),
      { settle: async () => undefined },
    );
  } catch (error) {
    if (isUnavailable(error) || context.signal.aborted) throw error;
    const { organization_id } = organization;
    context.log.error('an organization was not charged', { organization_id, error });
    return { error };
  }
}

/**
 * Organizations with usage on the charged days, or whose quota state does not match their balance.
 */
async function organizationsToCharge(
  { db, at }: JobContext,
  page_rows: number,
): Promise<Map<string, string[]>> {
  const range = rangeOf(at);
  const found = new Map<string, string[]>();
  const projectsOf = (organization_id: string) => {
    const project_ids = found.get(organization_id) ?? [];
    found.set(organization_id, project_ids);
    return project_ids;
  };
  for (let after = ''; ; ) {
    const page = await listProjectsWithUsage(db, { ...range, after, limit: page_rows });
    for (const { organization_id, project_id } of page)
      projectsOf(organization_id).push(project_id);
    after = page.at(-1)?.project_id ?? '';
    if (page.length < page_rows) break;
  }
  for (const organization_id of await listUnsettledOrganizations(db)) projectsOf(organization_id);
  return found;
}

/** The nights whose charge would find usage, summed or not. */
export function listChargeableNights(db: Queryable, nights: readonly Date[]): Promise<Date[]> {
  return listWithUsage(
    db,
    nights.map((at) => ({ at, ...rangeOf(at) })),
  );
}

function rangeOf(at: Date): { from: Date; to: Date } {
  return { from: startOfDay(chargedDays(at)[0] ?? dayOf(at)), to: startOfDay(dayOf(at)) };
}

type Charging = {
  organization_id: string;
  project_ids: string[];
  at: Date;
  clock: Clock;
  run: string;
  failpoint?: Failpoint;
};
type Charged = { entries: number; credits: number; quota: QuotaChange };

/** Locks first: no other run of the charge can change what is read after that. */
async function chargeOrganization(tx: Transaction, charging: Charging): Promise<Charged> {
  const { organization_id, project_ids, at, failpoint } = charging;
  await lockOrganization(tx, organization_id);
  const hours = byProject(await listUsageHours(tx, { project_ids, ...rangeOf(at) }));
  const pricing = byProject(await listPricing(tx, project_ids));
  const exempt = await listExemptions(tx, [organization_id]);
  const deltas: number[] = [];
  for (const project_id of project_ids) {
    const own = {
      hours: hours.get(project_id) ?? [],
      pricing: pricing.get(project_id) ?? [],
      exempt,
    };
    for (const day of chargedDays(at)) {
      deltas.push(await chargeDay(tx, { ...charging, project_id, day, ...own }));
    }
  }
  await failpoint?.('charge.ledger_written');
  const quota = await updateQuotaStatus(tx, organization_id);
  await failpoint?.('charge.before_commit');
  return {
    entries: deltas.filter((delta) => delta !== 0).length,
    credits: deltas.reduce((sum, delta) => sum + delta, 0),
    quota,
  };
}

function byProject<Row extends { project_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy(rows, ({ project_id }) => project_id);
}

type ProjectDay = Charging & {
  project_id: string;
  day: string;
  hours: UsageHourRow[];
  pricing: PricingRow[];
  exempt: ExemptPeriod[];
};

/** Returns the difference charged. A day without usage gets no row. */
async function chargeDay(tx: Transaction, projectDay: ProjectDay): Promise<number> {
  const { organization_id, project_id, day, run, at, clock } = projectDay;
  const hours = projectDay.hours.filter((hour) => dayOf(hour.window_start) === day);
  if (hours.length === 0) return 0;
  const charged_credits = chargeOfDay(billedHours({ ...projectDay, hours }));
  // `at` may lie in the future, but no hour counts as closed before it is over.
  const until = Math.min(at.getTime(), clock.now().getTime());
  const hours_closed = countHoursClosed(day, new Date(until));
  await foldUsageDay(tx, { project_id, day, charged_credits, hours_closed });
  await projectDay.failpoint?.('charge.before_ledger');
  return insertLedgerEntry(tx, { organization_id, project_id, day, run, charged_credits });
}
