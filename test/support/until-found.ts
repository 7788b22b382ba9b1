/** Polls until there is a result, for code outside of tests; tests poll with expectations. */
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 50;
const WAIT_MS_MAX = 120_000;

/**
 * `what` describes the result in the error of a timeout. An error thrown by `look` ends the
 * polling.
 */
export async function untilFound<Found>(
  what: string,
  look: () => Promise<Found | false | undefined> | Found | false | undefined,
): Promise<Found> {
  for (const end = performance.now() + WAIT_MS_MAX; performance.now() < end; await sleep(LOOK_MS)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`not within ${WAIT_MS_MAX / 1000} s: ${what}`);
}
