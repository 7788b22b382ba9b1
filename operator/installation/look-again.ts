/** When an installation is looked at again, where nothing in the cluster says so. */
import type { Decision } from '../image-service/decide.ts';
import type { Deeds } from './carry-out.ts';

export const TROUBLE_SECONDS = 15;

/** What rests is written when it may be, and what else stands in the way is mended by somebody whom nobody tells of. */
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
