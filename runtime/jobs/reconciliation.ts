/**
 * Checks whether deliveries, sums and charges agree, and logs the cause for each overdue day on which they do not. It
 * repairs nothing; the cause names the jobs that do. Spec: Metering; Staff (reconciliation).
 */
import { type ReconciledDay, reconcileProjects } from '../actions/reconcile-usage.ts';
import { reconciledSince } from '../core/metering.ts';
import { differenceCauses, isOverdue } from '../core/reconciliation.ts';
import { listSpoolLosses } from '../db/reconciliation.ts';
import type { JobContext, JobCounts } from './job.ts';

/** Log lines per run, because a fault usually affects many days at once. */
const LINES_MAX = 50;

export async function reconciliation(context: JobContext): Promise<JobCounts> {
  const { db, at: now, signal } = context;
  const counts = { days: 0, differing: 0 };
  for await (const days of reconcileProjects(db, { project_id: null, now })) {
    signal.throwIfAborted();
    const differing = days.filter((day) => day.differences.length > 0 && isOverdue(day, now));
    const room = Math.max(0, LINES_MAX - counts.differing);
    for (const day of differing.slice(0, room)) logDifference(context, day);
    counts.days += days.length;
    counts.differing += differing.length;
  }
  return { ...counts, ...(await logLosses(context)) };
}

function logDifference({ log }: JobContext, { project_id, day, differences }: ReconciledDay): void {
  for (const { cause, credits } of differences) {
    const advice = differenceCauses[cause];
    log.warn('the metering of a day does not add up', {
      project_id,
      day,
      reason: cause,
      credits,
      advice,
    });
  }
}

async function logLosses({ db, log, at }: JobContext): Promise<JobCounts> {
  const losses = await listSpoolLosses(db, reconciledSince(at));
  for (const { day, spool_id: spool, missing_batches, lost_deliveries } of losses.slice(
    0,
    LINES_MAX,
  )) {
    const counts = { missing_batches, lost_deliveries };
    log.warn('usage of a delivery server never arrived', {
      day,
      spool,
      counts,
      advice: LOSS_ADVICE,
    });
  }
  return {
    missing_batches: losses.reduce((sum, loss) => sum + loss.missing_batches, 0),
    lost_deliveries: losses.reduce((sum, loss) => sum + loss.lost_deliveries, 0),
  };
}

const LOSS_ADVICE =
  'missing batches: look for *.rejected in the spool folder of the server that had them; lost deliveries: neither its disk nor its memory could hold them';
