/**
 * Sums the usage batches of each hour that batches received since the last run refer to. An hour's sum depends on its
 * batches alone, so a late batch only causes it to be computed again. Spec: Metering.
 */
import { inParts } from '../core/in-parts.ts';
import { nextHour } from '../core/metering.ts';
import {
  findNextMark,
  findRollupMark,
  type RollupMark,
  upsertRollupMark,
} from '../db/sweep-positions.ts';
import { listHoursTouched } from '../db/usage-batches.ts';
import { foldUsageHours, lockUsageHours } from '../db/usage-hours.ts';
import type { JobContext, JobCounts } from './job.ts';
import { keptSince } from './kept-usage.ts';

/** Longer than any transaction that inserts a batch, whose received_at is its start. */
const OVERLAP_MS = 10 * 60_000;
/** Retention deletes batches after 35 days; an hour must not be folded from only some of them. */
const FOLDED_DAYS = 34;
/** In one transaction. */
const HOURS_AT_ONCE = 24;

export async function hourlyRollup(context: JobContext): Promise<JobCounts> {
  const { db, clock, signal } = context;
  const mark = await findRollupMark(db);
  const next = await findNextMark(db, mark);
  const from = foldedFrom(clock.now(), mark);
  const hours = await listHoursTouched(db, { newer: newerThan(mark), from });
  let changed = 0;
  for (const some of inParts(hours, HOURS_AT_ONCE)) {
    signal.throwIfAborted();
    changed += await foldAlone(context, some);
  }
  await db.transaction(async (tx) => {
    await lockUsageHours(tx);
    await upsertRollupMark(tx, next);
  });
  return { hours: hours.length, changed };
}

/** Before the first sum, retention has deleted nothing. */
function foldedFrom(now: Date, mark: RollupMark | undefined): Date {
  return mark === undefined ? new Date(0) : nextHour(keptSince(now, { mark, days: FOLDED_DAYS }));
}

/** Batches before this were summed by a successful run; null if there was none. */
function newerThan(mark: RollupMark | undefined): { batch_id: number; since: Date } | null {
  if (mark === undefined) return null;
  return { batch_id: mark.batch_id, since: new Date(mark.at.getTime() - OVERLAP_MS) };
}

async function foldAlone({ db, clock, failpoint }: JobContext, hours: Date[]): Promise<number> {
  const changed = await db.transaction(async (tx) => {
    await lockUsageHours(tx);
    // Another run may have ended since, and retention deletes by its mark.
    const from = foldedFrom(clock.now(), await findRollupMark(tx));
    const rows = await foldUsageHours(
      tx,
      hours.filter((hour) => hour >= from),
    );
    await failpoint?.('rollup.before_commit');
    return rows;
  });
  await failpoint?.('rollup.committed');
  return changed;
}
