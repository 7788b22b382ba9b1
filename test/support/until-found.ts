/** Waiting outside of tests, which poll what they expect: looks again and again until there is something to find. */
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 20;
const WAIT_MS_MAX = 120_000;

/** Resolves with what was found; `what` is told where that takes too long. What a look throws ends the waiting. */
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
