/** Waits in a test for several values at once: until a check that expects them passes, else throws its failure. */
import { vi } from 'vitest';

/** Twice the minute after which a route is compared again if no event reports a change. */
const WAIT_MS_MAX = 120_000;

export function until(check: () => unknown): Promise<void> {
  return vi.waitFor(async () => void (await check()), { timeout: WAIT_MS_MAX, interval: 50 });
}
