/** When to examine an installation again, if no event in the cluster will trigger it. */
import { type Decision, PROBLEM_RETRY_SECONDS } from '../image-service/decide.ts';
import type { ApplyResult } from './apply-steps.ts';

/**
 * A paused write runs when it may; for other problems, nothing shows when somebody has fixed them.
 */
export function requeueAfter(
  { problems, retry_after_ms }: Pick<ApplyResult, 'problems' | 'retry_after_ms'>,
  { requeue_after_seconds }: Pick<Decision, 'requeue_after_seconds'>,
): number | undefined {
  const isRefused = problems.some(({ reason }) => reason !== 'ObjectUndone');
  const waits = [
    isRefused ? PROBLEM_RETRY_SECONDS : undefined,
    retry_after_ms === undefined ? undefined : retry_after_ms / 1000,
    requeue_after_seconds,
  ];
  return waits.filter((seconds) => seconds !== undefined).toSorted((a, b) => a - b)[0];
}
