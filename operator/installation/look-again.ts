/** When to examine an installation again, if no event in the cluster will trigger it. */
import type { Decision } from '../image-service/decide.ts';
import type { Deeds } from './carry-out.ts';

export const TROUBLE_SECONDS = 15;

/**
 * A paused write runs when it may; for other problems, nothing shows when somebody has fixed them.
 */
export function lookAgain(
  { troubles, rest_ms }: Pick<Deeds, 'troubles' | 'rest_ms'>,
  { look_again_seconds }: Pick<Decision, 'look_again_seconds'>,
): number | undefined {
  const isRefused = troubles.some(({ reason }) => reason !== 'ObjectUndone');
  const waits = [
    isRefused ? TROUBLE_SECONDS : undefined,
    rest_ms === undefined ? undefined : rest_ms / 1000,
    look_again_seconds,
  ];
  return waits.filter((seconds) => seconds !== undefined).toSorted((a, b) => a - b)[0];
}
