/**
 * Sums the usage batches of each hour that batches have spoken of since the last run. An hour is a pure
 * function of its batches, so a late one only makes it computed again. Spec: Metering.
 */
import { inParts } from '../core/in-parts.ts';
import { nextHour } from '../core/metering.ts';
import type { Database } from '../db/client.ts';
import { findLastJobRun } from '../db/job-runs.ts';
import { listHoursTouched } from '../db/usage-batches.ts';
import { foldUsageHours, lockUsageHours } from '../db/usage-hours.ts';
import type { JobContext, JobCounts } from './job.ts';

const DAY_MS = 86_400_000;
/** Longer than any transaction that brings a batch: its received_at is of its beginning. */
const OVERLAP_MS = 10 * 60_000;
/** Retention deletes batches after 35 days: an hour without all of its batches is never folded again. */
const FOLDED_DAYS = 34;
/** Of one transaction. */
const HOURS_AT_ONCE = 24;

export async function hourlyRollup(context: JobContext): Promise<JobCounts> {
  const { db, clock, signal } = context;
  const from = nextHour(new Date(clock.now().getTime() - FOLDED_DAYS * DAY_MS));
  const hours = await listHoursTouched(db, { since: await lastLook(db), from });
  let changed = 0;
  for (const some of inParts(hours, HOURS_AT_ONCE)) {
    signal.throwIfAborted();
    changed += await foldAlone(context, some);
  }
  return { hours: hours.length, changed };
}

/** Every batch that came before it was summed by a run that ended well; null: there was none. */
async function lastLook(db: Database): Promise<Date | null> {
  const last = await findLastJobRun(db, 'hourly-rollup');
  return last === undefined ? null : new Date(last.started_at.getTime() - OVERLAP_MS);
}

async function foldAlone({ db, failpoint }: JobContext, hours: Date[]): Promise<number> {
  const changed = await db.transaction(async (tx) => {
    await lockUsageHours(tx);
    const rows = await foldUsageHours(tx, hours);
    await failpoint?.('rollup.before_commit');
    return rows;
  });
  await failpoint?.('rollup.committed');
  return changed;
}
