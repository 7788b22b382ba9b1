/**
 * The last seven days at every stage of metering, for one project or summed over all: one entry per day, even for days
 * without activity. Spec: Staff (reconciliation).
 */
import { reconciledSince, reconciliationDays } from '../core/metering.ts';
import type { Difference, MeteringDay } from '../core/reconciliation.ts';
import type { Queryable } from '../db/client.ts';
import { listSpoolLosses, type SpoolLoss } from '../db/reconciliation.ts';
import { type ReconciledDay, reconcileProjects } from './reconcile-usage.ts';

/**
 * What was metered and charged on a day, the differences by cause, and the losses of all spools, of
 * whichever project.
 */
export type DayTotals = Omit<MeteringDay, 'project_id'> &
  Pick<SpoolLoss, 'missing_batches' | 'lost_deliveries'> & { differences: Difference[] };

/** Oldest first, today last. `project_id` null: all projects. */
export async function reconcileDays(
  db: Queryable,
  { project_id, now }: { project_id: string | null; now: Date },
): Promise<DayTotals[]> {
  const totals = new Map(reconciliationDays(now).map((day) => [day, nothingOf(day)]));
  for await (const page of reconcileProjects(db, { project_id, now })) {
    for (const day of page) add(totals.get(day.day), day);
  }
  for (const loss of await listSpoolLosses(db, reconciledSince(now))) {
    addLoss(totals.get(loss.day), loss);
  }
  return [...totals.values()];
}

function nothingOf(day: string): DayTotals {
  const credits = { batched_credits: 0, rolled_up_credits: 0, exempt_credits: 0 };
  const losses = { missing_batches: 0, lost_deliveries: 0 };
  return {
    day,
    requests: 0,
    ...credits,
    owed_credits: 0,
    charged_credits: 0,
    ...losses,
    differences: [],
  };
}

const SUMMED = [
  'requests',
  'batched_credits',
  'rolled_up_credits',
  'exempt_credits',
  'owed_credits',
  'charged_credits',
] as const;

function add(total: DayTotals | undefined, day: ReconciledDay): void {
  if (total === undefined) return;
  for (const field of SUMMED) total[field] += day[field];
  for (const { cause, credits } of day.differences) {
    const known = total.differences.find((one) => one.cause === cause);
    const others = total.differences.filter((one) => one !== known);
    total.differences = [...others, { cause, credits: credits + (known?.credits ?? 0) }];
  }
}

function addLoss(total: DayTotals | undefined, loss: SpoolLoss): void {
  if (total === undefined) return;
  total.missing_batches += loss.missing_batches;
  total.lost_deliveries += loss.lost_deliveries;
}
