/**
 * The age of usage batches counts from the last time they were summed: after a time in which no job ran, usage from
 * before it is still there and still summed.
 */
import { DAY_MS } from '../core/durations.ts';
import type { RollupMark } from '../db/sweep-positions.ts';

type Kept = { mark: RollupMark; days: number };

/** So many days before the last sum, or before now if that is earlier because the clock was set back. */
export function retentionStart(now: Date, { mark, days }: Kept): Date {
  const summed = Math.min(now.getTime(), mark.at.getTime());
  return new Date(summed - days * DAY_MS);
}
