/**
 * Sums the usage batches of each hour that batches received since the last run refer to. An hour's sum depends on its
 * batches alone, so a late batch only causes it to be computed again. A run that was killed is continued by the next.
 * Spec: Metering.
 */
import { inChunks } from '../core/in-chunks.ts';
import { nextHour } from '../core/metering.ts';
import type { Transaction } from '../db/client.ts';
import {
  findNextMark,
  findRollupMark,
  type RollupMark,
  upsertRollupMark,
} from '../db/sweep-positions.ts';
import { listHoursTouched } from '../db/usage-batches.ts';
import { foldUsageHours, lockUsageHours } from '../db/usage-hours.ts';
import type { JobContext, JobCounts } from './job.ts';
import { retentionStart } from './usage-retention.ts';

/** In one transaction: half a day of a delivery server, which sends one each second. */
const BATCHES_AT_ONCE = 50_000;
/** In one statement. */
const HOURS_AT_ONCE = 24;
/** Retention deletes batches after 35 days; an hour must not be folded from only some of them. */
const FOLDED_DAYS = 34;

export async function hourlyRollup(
  context: JobContext,
  { batches_at_once = BATCHES_AT_ONCE }: { batches_at_once?: number } = {},
): Promise<JobCounts> {
  const { db, signal, failpoint } = context;
  const counts = { hours: 0, changed: 0 };
  for (let isEnd = false; !isEnd; ) {
    signal.throwIfAborted();
    const sums = await db.transaction((tx) => sumNext(tx, context, batches_at_once));
    await failpoint?.('rollup.committed');
    counts.hours += sums.hours;
    counts.changed += sums.changed;
    isEnd = sums.is_end;
  }
  return counts;
}

type Sums = { hours: number; changed: number; is_end: boolean };

/** Locks first: what another run has summed, and what retention may have deleted since, is known by the mark. */
async function sumNext(tx: Transaction, context: JobContext, limit: number): Promise<Sums> {
  await lockUsageHours(tx);
  const mark = await findRollupMark(tx);
  const next = await findNextMark(tx, { mark, limit });
  const from = foldedFrom(context.clock.now(), mark);
  const hours = await listHoursTouched(tx, { mark, until: next.batch_id, from });
  let changed = 0;
  for (const some of inChunks(hours, HOURS_AT_ONCE)) {
    context.signal.throwIfAborted();
    changed += await foldUsageHours(tx, some);
  }
  await upsertRollupMark(tx, next);
  await context.failpoint?.('rollup.before_commit');
  return { hours: hours.length, changed, is_end: next.is_end };
}

/** Before the first sum, retention has deleted nothing. */
function foldedFrom(now: Date, mark: RollupMark | undefined): Date {
  return mark === undefined
    ? new Date(0)
    : nextHour(retentionStart(now, { mark, days: FOLDED_DAYS }));
}
